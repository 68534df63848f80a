"""What the engine refuses, by name. Every message says what to do about it."""


class EngineError(ValueError):
    """Anything that the engine refuses."""


class BadPool(EngineError):
    """Features, labels or target concept that no pool can be made of."""


class BadAffinity(BadPool):
    """An affinity matrix that is no weighted, undirected graph over the pool."""


class BadHistory(EngineError):
    """A step of the history that cannot have happened with this pool."""


class BadSetting(EngineError):
    """A parameter of a teacher, a learner or a learning rate outside its range."""


class BadPoolFolder(EngineError):
    """A folder that holds no complete pool of a format that this version reads."""


class PoolExhausted(EngineError):
    """A teacher that never repeats has shown every example."""


class PoolTooLarge(EngineError):
    """A pool beyond the size that this teacher serves exactly."""
