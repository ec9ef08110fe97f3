# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.poison.steering import (
    Steering as Steering,
    find_steering as find_steering,
    hidden_in as hidden_in,
    result_steering as result_steering,
    steering_in as steering_in,
)
