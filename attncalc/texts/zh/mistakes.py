"""What ``attncalc mistakes`` says around the catalogue, in Chinese."""

TEXTS = {
    "mistakes.title": "已知错误",
    "mistakes.list": (
        "{count} 种在公开的注意力代码里出现过的错误，按出错的步骤排列。attncalc mistakes ID 讲解其中一种；attncalc "
        "mistakes Q K V 显示每一种对你的数字有什么影响。"
    ),
    "mistakes.effects": "每一种已知错误对这些数字的影响",
    "mistakes.effects.text": (
        "每一种都是正确的计算换掉一步。差异是输出里最大的差；一种错误有几种犯法时，取影响最大的一种。"
        "最后一列是一个查询给了不该看的键的总权重，取最大的一个。"
    ),
    "mistakes.unseen.one": "另有 {n} 种适用，但在这里看不出差别：{ids}。",
    "mistakes.unseen.many": "另有 {n} 种适用，但在这里看不出差别：{ids}。",
    "mistakes.others.one": "还有 {n} 种不适用于这些输入。",
    "mistakes.others.many": "还有 {n} 种不适用于这些输入。",
    "mistakes.id": "名称",
    "mistakes.stage": "阶段",
    "mistakes.name": "错误",
    "mistakes.difference": "差异",
    "mistakes.leak": "落在被挡住的键上",
    "mistakes.what": "做了什么",
    "mistakes.why": "为什么错",
    "mistakes.shows": "有什么表现",
    "mistakes.instead": "应当怎样写",
    "mistakes.source": "出现于",
    "mistakes.inputs": "在这些输入上",
    "mistakes.inputs.not": "它不适用于这些输入。",
    "mistakes.inputs.same": "它在这些输入上没有差别。",
    "mistakes.inputs.difference": "输出里最大的差是 {difference}。",
    "mistakes.right": "正确",
    "mistakes.wrong": "错误",
    "mistakes.sum": "和",
}
