#!/usr/bin/env python3
"""Writes the tvshow.nfo files of a library of YouTube channels, for Jellyfin, Kodi and Plex.

Each file has a channel's title, description and ID, and the URLs of its images on a Pennant instance: the media server
downloads these itself. docs/media-libraries.md explains it. Needs Python 3.9 or later, and no packages.
"""

import argparse
import json
import os
import re
import struct
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

EPILOG = """LIBRARY has one folder for each channel. Its channel is the one of its tvshow.nfo, else that of the .info.json files
which yt-dlp writes beside videos. --names and --channel name channels instead, and create missing folders.

Exit code: 0 every file is written; 1 some are not, and standard error says why; 2 wrong arguments."""

CHANNEL_ID = re.compile(r"UC[A-Za-z0-9_-]{22}")
# XML 1.0 forbids all other characters.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Windows and SMB forbid the visible ones.
NOT_IN_FILE_NAMES = re.compile(r'[\x00-\x1f/\\:*?"<>|]')
MAX_INFO_FILES = 20
MAX_WAIT_SECONDS = 60


class Failure(Exception):
    """Why a file is not written, as a sentence."""


def main():
    options = parse_arguments()
    shows, skipped = find_shows(options)
    if not shows and not skipped:
        skipped = [f"{options.names or options.library} has no channels"]
    results = load_records(options.instance, [channel for channel, _ in shows])
    failures = 0
    for channel, folder in shows:
        try:
            print(write(options, results[channel], folder))
        except (Failure, OSError) as error:
            print(f"{folder or channel}: {error}", file=sys.stderr)
            failures += 1
    for reason in skipped:
        print(reason, file=sys.stderr)
    return 1 if failures > 0 or skipped else 0


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--names", metavar="FILE", type=Path, help="lines of a channel ID or @handle, and its folder")
    which.add_argument("--channel", help="LIBRARY is the folder of this channel (ID or @handle)")
    parser.add_argument("--background", metavar="RRGGBB", help="around posters; default: the color of the avatar's edge")
    parser.add_argument("instance", metavar="INSTANCE", help="its URL, as the media server reaches it")
    parser.add_argument("library", metavar="LIBRARY", type=Path)
    options = parser.parse_args()
    options.instance = options.instance.rstrip("/")
    if not re.match(r"https?://[^/]", options.instance):
        parser.error("INSTANCE is a URL such as http://192.168.1.5:8080")
    if options.background is not None and not re.fullmatch("[0-9A-Fa-f]{6}", options.background):
        parser.error("--background is six hexadecimal digits, such as 000000")
    if options.names is not None and not options.names.is_file():
        parser.error(f"{options.names} is no file")
    if options.names is None and options.channel is None and not options.library.is_dir():
        parser.error(f"{options.library} is no folder")
    return options


def find_shows(options):
    """Channels with their folders (None: named like the channel), and what is skipped."""
    if options.channel is not None:
        return [(require_channel(options.channel), options.library)], []
    if options.names is not None:
        return read_names(options.names, options.library)
    if (options.library / "tvshow.nfo").exists() or list(options.library.glob("*.info.json")):
        return [], [f"{options.library} is the folder of one channel: name the folder above it, or use --channel"]
    shows, skipped = [], []
    for folder in sorted(path for path in options.library.iterdir() if path.is_dir() and path.name[0] not in ".@#"):
        try:
            shows.append((find_channel(folder), folder))
        except Failure as error:
            skipped.append(f"{folder}: {error}")
    return shows, skipped


def read_names(file, library):
    shows, skipped = [], []
    for line in file.read_text("utf-8-sig").splitlines():
        channel, *name = line.split(maxsplit=1) or [""]
        if channel == "" or channel.startswith("#"):
            continue
        try:
            shows.append((require_channel(channel), library / name[0].strip() if name else None))
        except Failure as error:
            skipped.append(f"{file}: {error}")
    return shows, skipped


def require_channel(channel):
    """The channel, if it is an ID or a handle."""
    if CHANNEL_ID.fullmatch(channel) or re.fullmatch(r"@[^\s,]+", channel):
        return channel
    raise Failure(f'"{channel}" is neither a channel ID (UC and 22 characters) nor an @handle')


def find_channel(folder):
    if (folder / "tvshow.nfo").exists():
        for element in read_nfo(folder / "tvshow.nfo").iterfind("uniqueid[@type='youtube']"):
            if CHANNEL_ID.fullmatch(element.text or ""):
                return element.text
    channels = set()
    for number, file in enumerate(folder.rglob("*.info.json")):
        if number == MAX_INFO_FILES:
            break
        try:
            channel = json.loads(file.read_bytes()).get("channel_id")
        except (ValueError, AttributeError):
            continue
        if isinstance(channel, str) and CHANNEL_ID.fullmatch(channel):
            channels.add(channel)
    if len(channels) == 1:
        return channels.pop()
    if len(channels) > 1:
        raise Failure(f"has videos of {' and '.join(sorted(channels))}: choose one with --channel")
    raise Failure("has no .info.json file that names a channel: use --channel")


def load_records(instance, channels):
    """The results of /api/channels by channel. A request loads at most ten new channels; the next one loads more of the others."""
    results = {}
    pending = list(dict.fromkeys(channels))
    while pending:
        for batch in batches(pending):
            try:
                answer = json.loads(get(f"{instance}/api/channels?ids={urllib.parse.quote(','.join(batch), safe='@,')}"))
                results.update({result["identifier"]: result for result in answer["results"]})
            except (Failure, ValueError, KeyError) as error:
                results.update({channel: {"error": {"detail": str(error)}} for channel in batch})
        again = [channel for channel in pending if results[channel].get("error", {}).get("code") == "upstream_unavailable"]
        if len(again) == len(pending):
            break
        pending = again
    return results


def batches(channels):
    """Lists of as many channels as one request may have. A handle of 30 letters can take 360 of the 8,192 bytes of a URL."""
    size = 50 if all(map(CHANNEL_ID.fullmatch, channels)) else 20
    return [channels[at : at + size] for at in range(0, len(channels), size)]


def get(url):
    """The body. Waits if the rate limit is reached or the instance is busy."""
    for _ in range(5):
        request = urllib.request.Request(url, headers={"User-Agent": "Pennant media-library.py"})
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.read()
        except urllib.error.HTTPError as error:
            body, seconds = error.read(), error.headers.get("Retry-After", "")
            if not seconds.isdigit() or int(seconds) > MAX_WAIT_SECONDS:
                raise Failure(f"{url}: {error.code} {body.decode(errors='replace')[:500]}") from error
            if error.code == 429:
                print(f"The rate limit is reached: waiting {seconds} s.", file=sys.stderr)
            time.sleep(int(seconds))
        except (urllib.error.URLError, OSError) as error:
            raise Failure(f"{url}: {getattr(error, 'reason', error)}") from error
    raise Failure(f"{url}: the instance is busy")


def write(options, result, folder):
    """Writes the file, and returns a line that says so."""
    if "channel" not in result:
        raise Failure(result["error"]["detail"])
    record = result["channel"]
    folder = folder or options.library / file_name(record)
    path = folder / "tvshow.nfo"
    before = path.read_text("utf-8") if path.exists() else None
    root = read_nfo(path) if before is not None else ET.Element("tvshow")
    fill(root, record, options)
    ET.indent(root)
    text = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
    if text == before:
        return f"{path}: unchanged"
    folder.mkdir(parents=True, exist_ok=True)
    # So that a media server never reads half of the file.
    draft = folder / ".tvshow.nfo.new"
    draft.write_text(text, "utf-8")
    os.replace(draft, path)
    return f"{path}: written"


def read_nfo(path):
    try:
        root = ET.fromstring(path.read_bytes(), ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    except ET.ParseError as error:
        raise Failure(f"tvshow.nfo is not XML ({error}), and is not changed") from error
    if root.tag != "tvshow":
        raise Failure(f"tvshow.nfo describes a {root.tag}, and is not changed")
    return root


def file_name(record):
    """The title as the name of a folder. A title may also be "..", or nothing but forbidden characters."""
    return NOT_IN_FILE_NAMES.sub(" ", record["title"]).strip(" .") or record["channelId"]


def fill(root, record, options):
    """Replaces what this script writes. An existing title and everything else stay."""
    images = images_of(record, options, root)
    for element in list(root):
        is_own = element.tag in ("plot", "premiered", "fanart") or (
            element.tag == "thumb" and element.get("aspect", "poster") in ("poster", "landscape", "banner")
        )
        if is_own or (element.tag == "uniqueid" and element.get("type") == "youtube"):
            root.remove(element)
    if not root.findtext("title"):
        add(root, "title", record["title"])
    add(root, "plot", record["description"] or "")
    if record["publishedAt"] is not None:
        add(root, "premiered", record["publishedAt"][:10])
    is_default = {} if root.find("uniqueid") is not None else {"default": "true"}
    add(root, "uniqueid", record["channelId"], {"type": "youtube", **is_default})
    for aspect, url in images.items():
        if aspect == "fanart":
            add(ET.SubElement(root, "fanart"), "thumb", url)
        else:
            add(root, "thumb", url, {"aspect": aspect})


def add(parent, tag, text, attributes=None):
    ET.SubElement(parent, tag, attributes or {}).text = FORBIDDEN.sub("", text)


def images_of(record, options, root):
    images = {}
    base = f"{options.instance}/{record['channelId']}"
    if record["avatarUrl"] is not None:
        color = options.background or earlier_color(root) or edge_color(get(f"{base}/avatar.png?width=16&height=16"))
        images["poster"] = f"{base}/avatar.jpg?width=800&height=1200&fit=contain&background={color}"
    if record["bannerUrl"] is not None:
        images["landscape"] = f"{base}/tv.jpg?width=1000"
        images["banner"] = f"{base}/desktop.jpg?width=1000&height=185"
        images["fanart"] = f"{base}/tv.jpg?width=1920"
    return images


def earlier_color(root):
    """The color in the poster's URL, so that a later run needs no image."""
    url = root.findtext("thumb[@aspect='poster']") or ""
    found = re.search(r"[?&]background=([0-9A-Fa-f]{6})(?:&|$)", url)
    return found and found[1]


def edge_color(png):
    """The median color of the outermost pixels; black if they are transparent. Reads RGB and RGBA, as the service writes."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    channels = {2: 3, 6: 4}.get(kind)
    if depth != 8 or channels is None:
        return "000000"
    data, at = b"", 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        data += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + length
    rows = list(unfiltered(zlib.decompress(data), width * channels, channels))
    pixels = [row[at : at + channels] for row in rows for at in range(0, len(row), channels)]
    edge = [pixel for at, pixel in enumerate(pixels) if at // width in (0, height - 1) or at % width in (0, width - 1)]
    middle = bytes(sorted(values)[len(edge) // 2] for values in zip(*edge))
    return "000000" if len(middle) == 4 and middle[3] < 128 else middle[:3].hex()


def unfiltered(data, row_bytes, step):
    """The rows of an image (PNG, third edition, section 9)."""
    before = bytes(row_bytes)
    for start in range(0, len(data), row_bytes + 1):
        row = bytearray(data[start + 1 : start + 1 + row_bytes])
        for at, value in enumerate(row):
            left, up, corner = (row[at - step], before[at], before[at - step]) if at >= step else (0, before[at], 0)
            paeth = min((left, up, corner), key=lambda each: abs(left + up - corner - each))
            row[at] = (value + (0, left, up, (left + up) // 2, paeth)[data[start]]) & 255
        before = row
        yield row


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        sys.exit(f"media-library.py: {failure}")
