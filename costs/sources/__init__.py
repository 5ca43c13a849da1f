"""Every source of facts, by the name that the shell, the schedule and the pages use for it.

A source is two functions: `read` streams a file as raw lines, `parse` turns one raw line into rows and
touches nothing else. `fetch` brings the file where there is one to bring.
"""

from types import ModuleType

from . import (
    accelerators,
    aliases,
    aws_capacity_blocks,
    aws_capacity_blocks_offers,
    aws_commitments,
    aws_prices,
    aws_quota_requests,
    aws_quotas,
    aws_spot_history,
    aws_zones,
    azure_prices,
    azure_usage,
    ecb_rates,
    gcp_billing,
    gcp_machine_prices,
    gcp_price_history,
    gcp_quotas,
    gpu_offerings,
    gpuhunt_catalogue,
    list_prices,
    machine_types,
    market_history,
    oci_prices,
    price_changes,
    price_table,
    price_table_history,
    quota_csv,
    quota_requests_csv,
    quotes_csv,
    skypilot,
    spot_advisor,
    spot_traces,
    utilization_csv,
    vantage,
)

SOURCES: dict[str, ModuleType] = {
    module.NAME: module
    for module in (
        accelerators,
        aliases,
        aws_capacity_blocks,
        aws_capacity_blocks_offers,
        aws_commitments,
        aws_prices,
        aws_quota_requests,
        aws_quotas,
        aws_spot_history,
        aws_zones,
        azure_prices,
        azure_usage,
        ecb_rates,
        gcp_billing,
        gcp_machine_prices,
        gcp_price_history,
        gcp_quotas,
        gpu_offerings,
        gpuhunt_catalogue,
        list_prices,
        machine_types,
        market_history,
        oci_prices,
        price_changes,
        price_table,
        price_table_history,
        quota_csv,
        quota_requests_csv,
        quotes_csv,
        skypilot,
        spot_advisor,
        spot_traces,
        utilization_csv,
        vantage,
    )
}
