"""Judges a record batch: Arrow in, Arrow out, no I/O. What drives it decides where rows come from and go to.

    from toolvet import AnswerCheck
    from toolvet.batch.kernel.answers import AnswersKernel

    kernel = AnswersKernel(AnswerCheck(), columns={"text": "response"})
    verdicts = kernel(record_batch)          # a record batch with one row for each row, of `kernel.schema`

Each kind of input has a kernel in a file of its own. A kernel pickles, is safe in any process, and holds nothing of the
rows that it judged, so that the local engine and engines of a cluster call the same one.
"""
