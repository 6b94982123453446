"""ONNX models as programs: a file's operators, written in torch's, and ONNX Runtime to hold that to.

`file` reads and checks a file, `program` walks its nodes, and a table says of each operator how it is written in
torch's (`elementwise`, `movement`, `reductions`, `neural`, `attention`, `recurrent`, `quantised`), so that all that is
known of torch's operators is known of these. What decides shapes is worked out in numbers (`known`, `arithmetic`).
Operators of which the table has no row run in ONNX Runtime (`runtime`), as does the whole model where nobody watches:
what is recorded must compute the same.
"""
