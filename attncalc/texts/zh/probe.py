"""``attncalc probe`` 的中文文字。"""

TEXTS = {
    "probe.title": "改变一个位置时，哪些输出会动",
    "probe.title.python": "改变一个位置时，{function} 的哪些输出会动",
    "probe.what.all": "逐个位置 j：键 j 的每个数加 100，值 j 的每个数减 100。然后把所有输出与之前的逐位比较。",
    "probe.what.keys": "逐个位置 j：键 j 的每个数加 100。然后把所有输出与之前的逐位比较。",
    "probe.what.values": "逐个位置 j：值 j 的每个数减 100。然后把所有输出与之前的逐位比较。",
    "probe.what.queries": "逐个查询 j：每个数加 100。然后把所有输出与之前的逐位比较。",
    "probe.moves": "位置 j 改变时，输出 i 动不动",
    "probe.sizes": "动多少：该行的最大变化",
    "probe.stays.one": "{position} 改变时，{same} 一位不变。",
    "probe.stays.many": "{position} 改变时，{same} 一位不变。",
    "probe.stays.none": "{position} 改变时，所有输出都动。",
    "probe.stays.all": "{position} 改变时，没有输出动。",
    "probe.position": "位置 {j}",
    "probe.position.token": "位置 {j}（{token}）",
    "probe.causal": "没有输出依赖后面的位置：这是因果的。",
    "probe.leaks.one": "{n} 处输出依赖后面的位置：{pairs}。",
    "probe.leaks.many": "{n} 处输出依赖后面的位置：{pairs}。",
    "probe.pair": "查询 {i} 依赖位置 {j}",
    "probe.unmasked": "没有因果掩码时理应如此；加上 --causal 就不会了。",
    "probe.own": "每个查询只影响自己的输出：查询之间互不可见。",
    "probe.own.but": (
        "没有查询影响别的输出：查询之间互不可见。除 {still} 外，每个查询都影响自己的输出：只看得到一个键的查询，无论它"
        "是什么，那个键的权重都是 1。"
    ),
    "probe.own.none": (
        "没有查询影响任何输出，连自己的也不影响：只看得到一个键的查询，无论它是什么，那个键的权重都是 1。"
    ),
    "probe.notown": "有查询影响了别的输出，任何注意力都不会这样：{pairs}。",
    "shuffle.title": "打乱位置的顺序：{order}",
    "shuffle.queries": (
        "各个位置换了顺序，查询、键和值都跟着自己的位置走。注意力本身不知道顺序：它对所有的键求和，先后无关。所以输出只是以同样的方式换位置，除"
        "非规则里有什么知道词元的位置。"
    ),
    "shuffle.keys": (
        "各对键值换了顺序，查询不动。注意力本身不知道顺序：它对所有的键求和，先后无关。所以输出不变，除非规则里有什么"
        "知道词元的位置。"
    ),
    "shuffle.rules": "规则",
    "shuffle.difference": "最大差别",
    "shuffle.verdict": "输出",
    "shuffle.rules.plain": "无掩码，无位置",
    "shuffle.rules.causal": "因果掩码",
    "shuffle.rules.rope": "RoPE",
    "shuffle.rules.alibi": "ALiBi",
    "shuffle.rules.given": "本次的规则",
    "shuffle.follows": "只是换了位置",
    "shuffle.follows.keys": "不变",
    "shuffle.differs": "数值不同",
    "shuffle.why": "所以 transformer 需要位置：没有因果掩码和位置编码，它分不清“狗咬人”和“人咬狗”。",
}
