// Nothing: what compiles the headers that the tests share, which needs a source.
