"""What ``attncalc probe`` says, in English."""

TEXTS = {
    "probe.title": "Which outputs move when one position changes",
    "probe.title.python": "Which outputs of {function} move when one position changes",
    "probe.what.all": (
        "One position j after the other: 100 is added to every number of key j and taken from every number of value "
        "j. Then all outputs are compared with those before, to the last bit."
    ),
    "probe.what.keys": (
        "One position j after the other: 100 is added to every number of key j. Then all outputs are compared with "
        "those before, to the last bit."
    ),
    "probe.what.values": (
        "One position j after the other: 100 is taken from every number of value j. Then all outputs are compared "
        "with those before, to the last bit."
    ),
    "probe.what.queries": (
        "One query j after the other: 100 is added to each of its numbers. Then all outputs are compared with those "
        "before, to the last bit."
    ),
    "probe.moves": "does output i move when position j changes",
    "probe.sizes": "by how much: the largest change in the row",
    "probe.stays.one": "When {position} changes, {same} stays the same to the last bit.",
    "probe.stays.many": "When {position} changes, {same} stay the same to the last bit.",
    "probe.stays.none": "When {position} changes, every output moves.",
    "probe.stays.all": "When {position} changes, no output moves.",
    "probe.position": "position {j}",
    "probe.position.token": "position {j} ({token})",
    "probe.causal": "No output depends on a later position: this is causal.",
    "probe.leaks.one": "{n} output depends on a later position: {pairs}.",
    "probe.leaks.many": "{n} outputs depend on a later position: {pairs}.",
    "probe.pair": "query {i} on position {j}",
    "probe.unmasked": "That is as it should be without a causal mask; with --causal none would.",
    "probe.own": "Every query moves its own output and no other: queries do not see each other.",
    "probe.own.but": (
        "No query moves an output that is not its own: queries do not see each other. Every query moves its own, but "
        "for {still}: where a query sees a single key, that key gets the weight 1 whatever the query is."
    ),
    "probe.own.none": (
        "No query moves any output, not even its own: where a query sees a single key, that key gets the weight 1 "
        "whatever the query is."
    ),
    "probe.notown": "A query moves an output that is not its own, which no attention does: {pairs}.",
    "shuffle.title": "The positions in another order: {order}",
    "shuffle.queries": (
        "The positions come in another order, each with its query, key and value. Attention itself knows no order: it "
        "adds up over all keys, whichever comes first. So the outputs only change places in the same way, unless "
        "something in the rules knows where a token stands."
    ),
    "shuffle.keys": (
        "The pairs of key and value come in another order, the queries stay. Attention itself knows no order: it adds "
        "up over all keys, whichever comes first. So no output changes, unless something in the rules knows where a "
        "token stands."
    ),
    "shuffle.rules": "rules",
    "shuffle.difference": "largest difference",
    "shuffle.verdict": "outputs",
    "shuffle.rules.plain": "no mask, no positions",
    "shuffle.rules.causal": "causal mask",
    "shuffle.rules.rope": "RoPE",
    "shuffle.rules.alibi": "ALiBi",
    "shuffle.rules.given": "the rules of this run",
    "shuffle.follows": "only change places",
    "shuffle.follows.keys": "stay the same",
    "shuffle.differs": "are other numbers",
    "shuffle.why": (
        "That is why a transformer needs positions: without a causal mask and without position encoding it could not "
        "tell “dog bites man” from “man bites dog”."
    ),
}
