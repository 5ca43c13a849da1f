"""Five fields to a first answer."""

from collections.abc import Sequence
from typing import Any

from django import forms

from planner.forms.fields import NumberField, PercentField


class WizardForm(forms.Form):
    """What is needed to compare renting with owning: everything else has a sourced default."""

    gpu = forms.ChoiceField(label="GPU")
    gpus_busy = NumberField(
        label="GPUs busy now", least=1, most=100_000, decimals=3, help_text="Mean over day and night."
    )
    growth = PercentField(
        label="Growth, % a month", least=-10, most=20, decimals=4, help_text="0 where it stays as it is."
    )
    place = forms.ChoiceField(label="Cloud and region", help_text="Where you rent today, or would.")
    usd_per_gpu = NumberField(
        label="Purchase price per GPU, $",
        least=100,
        most=500_000,
        decimals=2,
        required=False,
        help_text="With its share of server, network and installation. Leave it empty if you don’t know: "
        "the plan is made all the same and says what is missing.",
    )

    def __init__(
        self,
        *args: Any,
        gpus: Sequence[tuple[str, str]],
        places: Sequence[tuple[str, str]],
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        # redefined in place, so that the order of the page stays
        for name, choices in (("gpu", gpus), ("place", places)):
            field = self.fields[name]
            self.fields[name] = forms.ChoiceField(
                label=field.label, choices=[("", "choose"), *choices], help_text=field.help_text
            )
        self.fields["usd_per_gpu"].widget.attrs["placeholder"] = "don’t know"
