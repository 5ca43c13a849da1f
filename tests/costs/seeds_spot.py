"""Sound files of the spot sources, to be garbled. Values are ours, in the real formats."""

SEEDS = {
    "aws_spot_history": [
        b'{"Account": "123456789012", '
        b'"AvailabilityZones": [{"ZoneName": "us-east-1a", "ZoneId": "use1-az6"}], '
        b'"SpotPriceHistory": [{"AvailabilityZone": "us-east-1a", "InstanceType": "p3.2xlarge", '
        b'"ProductDescription": "Linux/UNIX (Amazon VPC)", "SpotPrice": "0.918000", '
        b'"Timestamp": "2021-05-30T21:17:08+00:00"}, {"AvailabilityZone": "us-east-1b", "SpotPrice": 1.5}]}',
        b"Timestamp,AvailabilityZone,InstanceType,ProductDescription,SpotPrice\n"
        b"2021-05-30T21:17:08+00:00,us-east-1a,p3.2xlarge,Linux/UNIX,0.918000\n",
        b"use1-az6\tp3.2xlarge\tLinux/UNIX\t0.918000\t2022-05-31T18:20:41+00:00\n"
        b"euw3-az2\tm5.large\tWindows\t0.866400\t2022-05-31T18:20:41+00:00\n",
    ],
    "aws_zones": [
        b'{"Account": "123456789012", "AvailabilityZones": [{"RegionName": "us-east-1", '
        b'"ZoneName": "us-east-1a", "ZoneId": "use1-az6", "Messages": []}]}',
    ],
    "spot_advisor": [
        b'{"ranges": [{"index": 0, "label": "<5%", "max": 5}, {"index": 1, "label": ">20%", "max": 100}], '
        b'"spot_advisor": {"us-east-1": {"Linux": {"p5.48xlarge": {"r": 1, "s": 62}, '
        b'"m5.large": {"r": 0}}}}}',
    ],
    "spot_traces": [
        b'{"metadata": {"gap_seconds": 195}, "data": [0, 0, 1, 1, 0, 1]}',
        b"0,0\n21529,0\n21529,4\n88032,8\n",
    ],
}
# what a trace is of stands in its name
NAMES = {"spot_traces": "aws-spot-instances-g4dn-xlarge-us-east-1c-2020-11-20-1930-to-2020-11-21-2200.csv"}
