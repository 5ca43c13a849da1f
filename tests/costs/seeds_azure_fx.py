"""Sound files of the Azure price list and of exchange rates, for tests that garble them."""

from costs.sources import ecb_rates

_ITEM = (
    b'{"currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": 96.125, "armRegionName": "eastus", '
    b'"effectiveStartDate": "2026-04-01T00:00:00Z", "meterName": "ND96isr H100 v5", '
    b'"productName": "Virtual Machines NDsr H100 v5 Series", "unitOfMeasure": "1 Hour", '
    b'"type": "Consumption", "armSkuName": "Standard_ND96isr_H100_v5", '
    b'"savingsPlan": [{"unitPrice": 60.5, "retailPrice": 60.5, "term": "1 Year"}]}'
)
_TERM = _ITEM.replace(b'"Consumption"', b'"Reservation", "reservationTerm": "3 Years"')
_LINK = b'"https://prices.azure.com:443/api/retail/prices?$skip=1"'
SEEDS = {
    "azure_prices": [
        b'{"Items": [' + _ITEM + b", " + _TERM + b'], "NextPageLink": null, "Count": 2}',
        b'[{"Items": [' + _ITEM + b'], "NextPageLink": ' + _LINK + b', "Count": 1}, '
        b'{"Items": [' + _TERM + b'], "NextPageLink": null, "Count": 1}]',
    ],
    "ecb_rates": [
        ecb_rates.TEMPLATE.encode(),
        b"Date, USD, JPY, BGN, \n30 November 2026, 1.0563, 158.94, 1.9558, \n",
        b"KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE\n"
        b"EXR.D.CNY.EUR.SP00.A,D,CNY,EUR,SP00,A,2026-11-27,7.6310\n",
    ],
}
