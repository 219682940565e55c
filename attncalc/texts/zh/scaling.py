"""``attncalc scaling`` 的中文文字。"""

TEXTS = {
    "scaling.title": "分数为什么要除以 √d：一个实验",
    "scaling.text": (
        "查询和键由均值 0、方差 1 的随机数组成；每个宽度 d 有 {samples} 个查询，每个与 {keys} 个键比较。每对数中左边"
        "没有缩放，右边带 * 的乘以 1/√d。种子 {seed}。"
    ),
    "scaling.variance": "方差",
    "scaling.entropy": "熵",
    "scaling.max_weight": "最大权重",
    "scaling.gradient": "梯度",
    "scaling.scaled.variance": "方差*",
    "scaling.scaled.entropy": "熵*",
    "scaling.scaled.max_weight": "最大权重*",
    "scaling.scaled.gradient": "梯度*",
    "scaling.read.variance": "方差：点积的方差。约等于 d，因为点积是 d 项之和；除以 √d 之后保持在 1 左右。",
    "scaling.read.entropy": "熵：权重分布得多均匀，单位 nat。{most} 表示 {keys} 个键一样多，0 表示一个键独占。",
    "scaling.read.weight": "最大权重：每个查询的最大权重的平均值。1 表示其余的键什么也得不到。",
    "scaling.read.gradient": "梯度：分数变化时权重的反应有多大。接近 0 时，训练就再也推不动权重了。",
    "scaling.curve.max_weight": "最大权重随 d 的变化",
    "scaling.curve.gradient": "梯度随 d 的变化",
    "scaling.curve.legend": "× 无缩放   • 乘以 1/√d   # 两者重合",
    "scaling.result": (
        "从 d = {first} 到 d = {last}，最大权重在无缩放时从 {low} 升到 {high}，有缩放时保持在 {least} 与 {most} 之间"
        "。这就是 1/√d 的作用。"
    ),
    "scaling.result.one": "d = {last} 时，最大权重无缩放为 {high}，有缩放为 {most}。",
}
