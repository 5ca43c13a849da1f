from .people import FirstAdminLink, Person
from .scenarios import Revision, Scenario, Workload
from .supplies import OnDemandSupply, OwnedSupply, ReservedSupply, SpotSupply, SupplyPrice

__all__ = [
    "FirstAdminLink",
    "OnDemandSupply",
    "OwnedSupply",
    "Person",
    "ReservedSupply",
    "Revision",
    "Scenario",
    "SpotSupply",
    "SupplyPrice",
    "Workload",
]
