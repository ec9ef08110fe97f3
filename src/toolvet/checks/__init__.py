"""One moment in, a verdict out: `arguments`, `capability`, `result` and `answer`; none of them knows another."""
