"""``attncalc cost`` 的中文文字。"""

TEXTS = {
    "cost.title": "注意力的代价",
    "cost.text": (
        "只由尺寸算出，键与查询一样多。批次 B = {batch}，查询头 H = {heads}，键值头 G = {kv_heads}，宽度 d = {dim}、d"
        "_v = {value_dim}，{dtype}（每个数 {bytes} 字节）。"
    ),
    "cost.matrix": "T × S 的分数矩阵",
    "cost.tokens": "词元",
    "cost.elements": "元素",
    "cost.bytes": "字节",
    "cost.growth": "增长",
    "cost.multiply_adds": "乘加次数",
    "cost.cache": "KV 缓存",
    "cost.seconds": "时间",
    "cost.instead": "其他做法所需",
    "cost.tiled": "分块",
    "cost.window": "窗口",
    "cost.window.work": "窗口乘加",
    "cost.linear": "线性",
    "cost.linear.work": "线性乘加",
    "cost.read.growth": (
        "矩阵随长度的平方增长：{first} → {last} 个词元，词元是 {ratio} 倍，元素是 {growth} 倍。缓存只随长度增长。"
    ),
    "cost.read.elements": "元素：B × H × T × S。分数有这样一个矩阵，注意力权重还有一个。",
    "cost.read.work": (
        "乘加次数：B × H × T × S × (d + d_v)，用于 Q Kᵀ 和 注意力权重 · V。因果掩码使其中约一半不起作用。"
    ),
    "cost.read.cache": (
        "KV 缓存：为下一个词元保留所有词元的键和值：B × G × S × (d + d_v) 个数。键值头比查询头少，使它小到 1/{share}。"
    ),
    "cost.read.cache.same": "KV 缓存：为下一个词元保留所有词元的键和值：B × G × S × (d + d_v) 个数。",
    "cost.read.seconds": "时间：每次乘加算 2 次运算，每秒 {flops} 次运算。",
    "cost.read.tiled": (
        "分块（FlashAttention）：结果精确，计算量相同。每个头只保留矩阵中 {tile} × {tile} 的一块以及这些行的 m 和 l，"
        "每个查询再保留一个 lse。"
    ),
    "cost.read.window": "窗口：每个查询只看自己和前面 {before} 个键。结果不同，计算量只随长度增长。",
    "cost.read.linear": (
        "线性：没有 softmax 的注意力。每个头用一个 d × d_v 的矩阵代替所有键和值。结果不同；计算量只随长度增长，内存完"
        "全不增长。"
    ),
}
