"""Uses the generated client as an application does: `in_python.py ADDRESS TOKEN` prints what it found, as JSON."""

import json
import sys

import plinth_sdk
from plinth_sdk.exceptions import NotFoundException

address, token = sys.argv[1:]

with plinth_sdk.ApiClient(plinth_sdk.Configuration(host=address, access_token=token)) as client:
    settings = plinth_sdk.SettingsApi(client)
    user = plinth_sdk.SettingScope.USER
    name = "Service.Timing.PreferredTimezone"
    settings.put_setting(user, name, plinth_sdk.UpdateSettingValueRequest(value="Europe/Paris"))
    try:
        settings.get_setting(user, "Nothing.Of.This")
        problem = None
    except NotFoundException as error:
        problem = {"status": error.status, "instance": json.loads(error.body)["instance"]}

    timeline = plinth_sdk.TimelineApi(client)
    for body in ["one", "two", "three"]:
        timeline.post_timeline_entry(
            "Invoice", "4711", plinth_sdk.CreateTimelineEntryRequest(entry_type=0, body=body)
        )
    bodies, cursor = [], ""
    while cursor is not None:
        page = timeline.get_timeline("Invoice", "4711", page_size=2, cursor=cursor)
        bodies += [entry.body for entry in page.items]
        cursor = page.next_cursor

    exchange = plinth_sdk.DataExchangeApi(client)
    upload = exchange.upload_import(("companies.csv", b"External id,Name\nA,Analytical Engines\n"), "Contacts.Companies")
    preview = exchange.preview_import(upload.id)

print(
    json.dumps(
        {
            "setting": settings.get_setting(user, name).value,
            "problem": problem,
            "bodies": bodies,
            "headers": preview.headers,
        }
    )
)
