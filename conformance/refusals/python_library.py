"""The words of pydantic (1 or 2) or jsonschema for each case; prints one JSON object."""

import json
import sys
from enum import Enum
from pathlib import Path
from typing import List, Optional, Union

here = Path(__file__).parent
cases = json.loads((here / "cases.json").read_text())


def of_jsonschema():
    import jsonschema

    validator = jsonschema.Draft7Validator(json.loads((here / "schema.json").read_text()))
    for name, arguments in cases.items():
        for number, error in enumerate(validator.iter_errors(arguments)):
            yield name + " " * number, error.message


def of_pydantic():
    import pydantic
    from pydantic import BaseModel, Field

    class Color(Enum):
        RED = "red"
        BLUE = "blue"

    class Place(BaseModel):
        x: int
        y: int

    second = pydantic.VERSION.startswith("2")
    pattern = {"pattern" if second else "regex": "^[a-z]+$"}

    class AddArguments(BaseModel):
        if second:
            model_config = {"extra": "forbid"}
        else:

            class Config:
                extra = "forbid"

        name: str = Field(..., min_length=1, max_length=20)
        count: int = Field(..., ge=0, le=100)
        color: Color = Color.RED
        loud: bool = False
        tags: List[str] = []
        place: Optional[Place] = None
        when: Union[int, str] = 0
        code: str = Field("a", **pattern)
        email: str = ""
        even: int = Field(2, multiple_of=2)
        odd: int = 1

        @(pydantic.field_validator("odd") if second else pydantic.validator("odd"))
        def is_odd(cls, value):
            if value % 2 == 0:
                raise ValueError("must be odd, not even")
            return value

    for name, arguments in cases.items():
        try:
            AddArguments(**arguments)
        except pydantic.ValidationError as refusal:
            yield name, str(refusal)


json.dump(dict(of_jsonschema() if sys.argv[1] == "jsonschema" else of_pydantic()), sys.stdout)
