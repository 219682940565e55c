"""``attncalc explain`` 的中文文字。"""

TEXTS = {
    "list": "{front} 和 {last}",
    "list.comma": "、",
    "range": "{first} 到 {last}",
    "query": "查询 {i}",
    "query.token": "查询 {i}（{token}）",
    "explain.title": "一步一步看注意力",
    "explain.title.cell": "从头算出一个注意力权重：查询 {i}，键 {j}",
    "explain.everything": "全部 {T} 个查询都完整演算。",
    "explain.only": "只有一个查询，完整演算。",
    "explain.focus": "{query} 的每个数都完整演算，其余查询只列出结果。",
    "explain.focus.alone": "{query} 的每个数都完整演算；一共有 {T} 个查询。",
    "explain.digits": "只在显示时取近似值，计算始终使用全部位数。",
    "explain.blocked": "被屏蔽",
    "explain.mistake": "这次运行故意做错，含有错误 {id}：{title}。",
    "unlike": "这次运行在这里做法不同：键 {j} 的 {stage} 应为 {expected}，而运行得到 {got}。",
    "unlike.inputs": "这次运行在这里做法不同：它的 Q、K 或 V 不是这一步应有的结果。",
    "unlike.opened": "这次运行在这里做法不同：按规则{query}不能关注 k{j}，而运行允许了。",
    "unlike.blocked": "这次运行在这里做法不同：按规则{query}可以关注 k{j}，而运行屏蔽了它。",
    # shapes
    "shapes.title": "输入及其形状",
    "shapes.text": (
        "Q 的每一行是一个查询，K 的每一行是一个键，V 的每一行是与同一行的键相对应的值。每个查询与每个键比较；两者越匹"
        "配，这个键的值在该查询的输出里占得越多。"
    ),
    "shapes.array": "数组",
    "shapes.shape": "形状",
    "shapes.meaning": "含义",
    "shapes.square": "分数、注意力权重",
    "shapes.output": "输出",
    "shapes.queries.one": "T = {n} 个查询，宽度 d 与键相同",
    "shapes.queries.many": "T = {n} 个查询，宽度 d 与键相同",
    "shapes.keys.one": "S = {n} 个键",
    "shapes.keys.many": "S = {n} 个键",
    "shapes.values.one": "{n} 个值，对应唯一的键，宽度 d_v 不限",
    "shapes.values.many": "{n} 个值，每个键一个，宽度 d_v 不限",
    "shapes.scores": "T × S：每个查询一行，每个键一列",
    "shapes.outputs": "T × d_v：每个查询一行，与值同宽",
    "shapes.batch": "共有 {B} 个互不相干的序列，这里显示序列 {b}。",
    "shapes.heads": "共有 {H} 个头，每个头在自己的列上单独做注意力，这里显示头 {h}。",
    "shapes.groups.one": "{H} 个查询头共用同一个键值头（多查询注意力）：查询头 {h} 使用键值头 {g}。",
    "shapes.groups.many": (
        "有 {H} 个查询头和 {G} 个键值头，相邻的每 {share} 个查询头共用一个键值头（分组查询注意力）：查询头 {h} 使用"
        "键值头 {g}。"
    ),
    "shapes.past.one": "{S} 个键中 k0 来自缓存，排在新键之前。",
    "shapes.past.many": "{S} 个键中 k0 到 k{last} 来自缓存，排在新键之前。",
    # project
    "project.title": "由序列得到 Q、K 和 V",
    "project.text": (
        "学到的矩阵把每一行变成一个查询、一个键和一个值。矩阵的一列说明：行里的每个数有多少进入结果中的一个数。"
    ),
    "project.query": "x 的第 {i} 行变成{query}：",
    "project.bias": "每行算式的最后一项是加上的偏置。",
    "project.keys": "键和值用同样的方法由 Wk 和 Wv 得到，{same}。",
    "project.self": "来自同一个序列",
    "project.other": "来自另一个序列，即上下文",
    # split
    "split.title": "拆分成多个头",
    "split.text": (
        "各列里并排放着 {H} 个头，每个头 {d} 列。头 {h} 是 Q 的第 {first} 到 {last} 列。数值不变，只是头有了自己的一"
        "维。"
    ),
    "split.matrix": "头 {h} 的 {name}",
    # rope
    "rope.title": "按位置旋转查询和键（RoPE）",
    "rope.text": (
        "两列组成一对 (x, y)，每一对都转过一个随位置增大的角 a。这样，查询与键的点积只取决于两者相距多远，而与它们在"
        "哪里无关。第一对每个位置转 1 弧度，后面的对越转越慢（底数 {base}，{dims} 列）。"
    ),
    "rope.query": "{query} 在位置 {position}：",
    "rope.formula": "(x, y) → (x cos a − y sin a, y cos a + x sin a)，a = 位置 × 底数^(−2n/列数)",
    "rope.rest": "第 {first} 到 {last} 列不旋转。",
    "rope.keys": "键以同样的方式旋转，值不旋转。进入点积的是：",
    "rope.keys.past": "新的键以同样的方式旋转；缓存中的键视为已经旋转过，保持不变；值不旋转。进入点积的是：",
    # raw
    "raw.title": "比较：每个查询与每个键的点积",
    "raw.text": "同一列的两个数相乘，再全部相加。方向相同的两行点积大，毫无共同之处的点积为 0，方向相反的点积为负。",
    # scale
    "scale.title": "缩放：让点积不随宽度变大",
    "scale.usual": (
        "点积是 d 项之和（这里 d = {d}），所以随宽度增大：对于由 ±1 左右的随机数组成的行，它通常约为 √d（√d 乘自己等"
        "于 d）。乘以 1/√d 之后，无论多宽都约为 1，这就是缩放点积。否则宽行的分数相差太大，softmax 会把几乎全部权重给"
        "一个键，训练就再也改不动了（attncalc scaling 用实验展示）。"
    ),
    "scale.given": "缩放因子给定为 {factor}；通常是 1/√d = 1/√{d} = {usual}。",
    # cap
    "cap.title": "软上限",
    "cap.text": "任何分数都不能超出 −{c} 到 {c}。小的分数几乎不变，大的分数越来越接近界限。",
    # bias
    "bias.title": "加上偏置",
    "bias.file": "偏置文件中的数加到分数上。",
    "bias.alibi": (
        "ALiBi 减去 斜率 × 距离，所以远处的键分量较轻。头 {h} 的斜率是 {slope}；距离是 |p − j|，即查询的位置 p 到键 j。"
    ),
    # mask
    "mask.title": "掩码：查询不能看的键",
    "mask.formula": "scores = 查询可以关注该键时为 {before}，否则为 −∞",
    "mask.none": "没有掩码：每个查询都可以关注每个键，分数不变。",
    "mask.rules": "所有生效的掩码都允许时，查询才可以关注一个键：",
    "mask.mask": "掩码",
    "mask.rule": "查询 i 可以关注键 j 的条件",
    "mask.name.causal": "因果掩码",
    "mask.name.window": "窗口",
    "mask.name.mask": "掩码文件",
    "mask.name.real": "填充掩码",
    "mask.name.bias": "偏置 −∞",
    "mask.causal": "j ≤ {place}：后面的都不能看",
    "mask.window": "{window}：远处的都不能看",
    "mask.file": "由文件规定（true 和 1 表示{true}）",
    "mask.allowed": "允许",
    "mask.blocked": "屏蔽",
    "mask.real": "键 j 是真实的词元，不是填充",
    "mask.bias": "偏置不是 −∞",
    "mask.all": "{Query} 可以关注所有的键，分数不变。",
    "mask.empty": "{Query} 一个键也不能关注。",
    "mask.empty.zero": "它得到什么由 --empty-rows zero 规定：权重和输出都是 0。",
    "mask.empty.nan": "它得到什么由 --empty-rows nan 规定：权重和输出都是 NaN。",
    "mask.empty.uniform": "它得到什么由 --empty-rows uniform 规定：每个键无论是否被屏蔽，权重都是 1/S。",
    "mask.empty.error": "按 --empty-rows error，这是一个错误。",
    "mask.empty.sink": "{Query} 一个键也不能关注：全部权重归汇点（sink）。",
    "mask.verdict": "{Query} 可以关注 {seen}，不能关注 {hidden}：",
    "mask.yes": "可以",
    "mask.no": "否：{reasons}",
    "mask.column.key": "键",
    "mask.column.before": "之前",
    "mask.column.verdict": "可否",
    "mask.column.after": "分数",
    "mask.column.free": "无掩码的权重",
    "mask.column.weight": "有掩码",
    "mask.infinity": (
        "是 −∞ 而不是 0：下一步对每个分数取 exp，exp(−∞) 恰好是 0，而 exp(0) 是 1。所以被屏蔽的键得不到任何权重，它本"
        "来的那一份由其余的键分享。"
    ),
    "mask.infinity.some": (
        "是 −∞ 而不是 0：下一步对每个分数取 exp，exp(−∞) 恰好是 0，而 exp(0) 是 1。所以在还有其他键可看的查询里，被屏"
        "蔽的键得不到任何权重，它本来的那一份由那些键分享。"
    ),
    "mask.infinity.none": (
        "是 −∞ 而不是 0：下一步对每个分数取 exp，exp(−∞) 恰好是 0，而 exp(0) 是 1。这里整行的指数都是 0，没有其他的键"
        "可以得到权重。"
    ),
    # softmax
    "softmax.title": "softmax：分数变成注意力权重",
    "softmax.text": (
        "exp(x) 是 e = 2.718… 的 x 次方：对任何 x 都是正数，x = 0 时为 1，x 增加 1 就变成 2.718 倍。一行的指数除以它"
        "们的和，加起来就是 1。先减去这一行最大的分数 m。这不改变任何权重，因为每个指数和它们的和都除以同一个数 exp(m"
        ")；但这样任何指数都不大于 1，不会溢出。"
    ),
    "softmax.largest": "{n} 个分数中的最大值",
    "softmax.sum": "和",
    "softmax.key": "键",
    "softmax.score": "分数",
    "softmax.difference": "− m",
    "softmax.exp": "exp",
    "softmax.weight": "/ 和",
    "softmax.lse": (
        "ln 是 exp 的逆运算。lse 是 exp(分数) 之和的对数，所以 权重 = exp(分数 − lse)；许多库把它和输出一起返回。"
    ),
    "softmax.zero": "分数 0 也得到权重：exp(0) 是 1。只有 −∞ 得不到。",
    "softmax.sink": "汇点（sink）是一个没有键的分数。它在和里占一份权重，所以各键的权重加起来小于 1。",
    "softmax.sink.label": "汇点",
    "softmax.empty.error": "{Query} 没有键，无从相除。",
    "softmax.empty.zero": "{Query} 没有键，和为 0，无从相除：它的权重设为 0。",
    "softmax.empty.nan": "{Query} 没有键，和为 0，而 0/0 是 NaN。",
    "softmax.empty.uniform": "{Query} 没有键；按 --empty-rows uniform，每个键虽被屏蔽，仍得到权重 1/S = {share}。",
    # output
    "output.title": "混合：每个值乘以权重，再相加",
    "output.text": "输出是各个值的加权平均，权重说多少就占多少。逐列计算：",
    "output.text.alone": "输出是各个值的加权平均，权重说多少就占多少。",
    "output.text.sink": (
        "权重说多少，值就占多少。汇点（sink）占去一份权重而没有值，所以输出是各个值与 0 的加权平均。逐列计算："
    ),
    "output.text.sink.alone": (
        "权重说多少，值就占多少。汇点（sink）占去一份权重而没有值，所以输出是各个值与 0 的加权平均。"
    ),
    "output.left_out": "权重为 0 的键略去：它们的值是什么都没有影响。",
    "output.nothing": "{Query} 的所有权重都是 0，输出也是 0。",
    # merge
    "merge.title": "把各个头并排放在一起",
    "merge.title.project": "合并各个头：输出投影",
    "merge.text": "{Query} 有 {H} 个输出，每个头一个，各 {d} 列。它们并排放置，而不是相加：",
    "merge.beside": "合在一起",
    "merge.project": "最后一个学到的矩阵混合{query} 的各列（每列一项，有偏置时再加偏置）：",
    # check
    "check.title": "检查",
    "check.sums": "每个查询的权重加起来是 1（最大误差：{off}）。",
    "check.sums.some": "每个有键可看的查询的权重加起来是 1（最大误差：{off}）。",
    "check.sums.sink": "每个查询的权重加上汇点是 1（最大误差：{off}）。",
    "check.sums.wrong": "{Query} 的权重加起来是 {got}，不是 1。",
    "check.blocked": "每个被屏蔽的键权重都是 0。",
    "check.blocked.some": "有其他键可看的查询里，每个被屏蔽的键权重都是 0。",
    "check.blocked.wrong": "{Query} 给键 {j} 权重 {weight}，而它不能关注这个键。",
    "check.range": "每个输出都在该查询能看到的最小值与最大值之间，平均值必然如此；{query} 的第 0 列：{bounds}。",
    "check.range.some": (
        "每个有键可看的查询的输出都在它能看到的最小值与最大值之间，平均值必然如此；{query} 的第 0 列：{bounds}。"
    ),
    "check.range.sink": (
        "每个输出都在 0 和该查询能看到的值之中的最小者与最大者之间：之所以包括 0，是因为汇点占去一份权重而没有值；"
        "{query} 的第 0 列：{bounds}。"
    ),
    "check.range.wrong": "{Query} 的输出第 {c} 列是 {got}，超出了值的范围 {low} 到 {high}：平均值不可能这样。",
    "check.range.wrong.sink": (
        "{Query} 的输出第 {c} 列是 {got}，超出了值与 0 的范围 {low} 到 {high}：平均值不可能这样。"
    ),
    "check.empty.one": "以上检查不包括{query}：它一个键也不能关注，得到什么由 --empty-rows 规定。",
    "check.empty.many": "以上检查不包括{query}：它们一个键也不能关注，得到什么由 --empty-rows 规定。",
    "check.nothing.one": "{Query} 一个键也不能关注，所以这里没有可检查的；它得到什么由 --empty-rows 规定。",
    "check.nothing.many": "{Query} 一个键也不能关注，所以这里没有可检查的；它们得到什么由 --empty-rows 规定。",
    # cell
    "cell.rows": "一个查询和一个键，宽度都是 d = {d}，以及这个键的值，宽度 d_v = {d_v}：",
    "cell.share": "贡献",
    "cell.raw": "逐列计算查询 {i} 乘键 {j}：",
    "cell.column": "列",
    "cell.product": "乘积",
    "cell.total": "累计",
    "cell.allowed": "{Query} 可以关注 k{j}，分数不变。",
    "cell.blocked": "{Query} 不能关注 k{j}（{reasons}），分数变成 −∞。",
    "cell.softmax": "权重是 exp(分数 − m) 在整行之和中所占的份额；m = {m} 是这一行最大的分数，和是 {total}。",
    "cell.weight.zero": "exp(−∞) 是 0，0 除以任何数还是 0。",
    "cell.output": "这个权重乘以 k{j} 的值，就是这个键对{query} 的输出的贡献：",
    "cell.whole": "整个输出",
}
