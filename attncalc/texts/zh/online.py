"""``attncalc explain --online`` 的中文文字。"""

TEXTS = {
    "online.title": "同样的结果，分块计算（在线 softmax，FlashAttention）",
    "online.text": (
        "不必一次拿到整行分数。键一块一块地经过时，只需保留三样：到目前为止最大的分数 m，指数之和 l，以及尚未除以和的"
        "输出 o。l 和 o 都是相对于 m 的。某一块带来更大的分数时，用 r = exp(旧 m − 新 m) 把它们缩小到新的 m。"
    ),
    "online.size.one": "这里每块 {n} 个键。",
    "online.size.many": "这里每块 {n} 个键。",
    "online.sink": "汇点最先：m 从 {sink} 开始，l 从 1 开始。",
    "online.query": "{query}：",
    "online.block": "第 {number} 块，{keys}：",
    "online.skipped": "第 {number} 块，{keys}：全部被屏蔽，跳过。",
    "online.more": "……其余 {n} 块依此类推……",
    "online.column.block": "块",
    "online.column.keys": "键",
    "online.end": "o / l",
    "online.same": "与一次处理整行的输出相同。",
    "online.differs": "与这次运行的输出不同，它是用别的方法算的。",
    "online.empty": "没有看到任何键：{query} 的结果由这种行的规则决定。",
    "online.why": (
        "长序列因此放得下：每个查询只保留 m、l 和一个输出，而不是全部 {S} 个分数（attncalc cost 计算字节数）。"
    ),
}
