"""Loupe's results in Snowsight: choose a picture, see its labels and what was found over it.

Written out by `loupe warehouse streamlit FILE`. It lives in the schema into which Loupe publishes
and reads its views; every value is bound. It needs the package pillow.
"""

import io

import streamlit as st
from PIL import Image, ImageDraw
from snowflake.snowpark.exceptions import SnowparkSQLException

FOUND, LABELLED, PAPER = "#e5484d", "#30a46c", "#d4d4d8"
MOST = 1000  # pictures in the list; the filter finds the others
KEPT = 60  # seconds for which an answer is shown without asking again
HELD = 20  # pictures whose bytes are kept so long: one may have megabytes

RUNS = """
SELECT run_id, max(model) AS model, max(purpose) AS purpose, max(day) AS day, count(*) AS pictures
FROM loupe_seen GROUP BY run_id ORDER BY run_id DESC LIMIT 500
"""
PICTURES = """
SELECT s.image_id, s.file_name, s.width, s.height, count(f.idx) AS found
FROM loupe_seen s
LEFT JOIN loupe_found f ON f.run_id = s.run_id AND f.image_id = s.image_id AND f.score >= ?
WHERE s.run_id = ? AND contains(lower(s.file_name), lower(?))
GROUP BY s.image_id, s.file_name, s.width, s.height
ORDER BY found DESC, s.file_name LIMIT ?
"""
BOXES = """
SELECT label, score, x1, y1, x2, y2 FROM loupe_found
WHERE run_id = ? AND image_id = ? AND score >= ? ORDER BY score DESC, idx
"""
LABELS = """
SELECT c.name AS label, l.x1, l.y1, l.x2, l.y2
FROM loupe_label_now l JOIN loupe_class_now c ON c.id = l.class_id
WHERE l.image_id = ? ORDER BY c.name, l.x1, l.y1
"""
BYTES = "SELECT data FROM loupe_picture_now WHERE image_id = ?"


def ask(sql, *values):
    """The rows of a query as dicts with names in small letters; the values are bound."""
    session = st.connection("snowflake").session()
    told = session.sql(sql, params=list(values)).collect()
    return [{name.lower(): value for name, value in row.as_dict().items()} for row in told]


@st.cache_data(ttl=KEPT, max_entries=200, show_spinner=False)
def rows(sql, *values):
    """The same, asked once for all who look."""
    return ask(sql, *values)


@st.cache_data(ttl=KEPT, max_entries=HELD, show_spinner=False)
def data(image):
    """The bytes of a picture, if they were published."""
    return [bytes(row["data"]) for row in ask(BYTES, image) if row["data"]]


def pixels(picture):
    """The picture, where its bytes were published, else paper of its size; and which it is."""
    try:
        told = data(picture["image_id"])
    except SnowparkSQLException:  # nobody has published pictures: there is no such view
        told = []
    if told:
        return Image.open(io.BytesIO(told[0])).convert("RGB"), True
    size = int(picture["width"] or 640), int(picture["height"] or 480)
    return Image.new("RGB", size, PAPER), False


def drawn(image, boxes, colour, named):
    """Boxes over the picture, with the words that belong to them."""
    pen, width = ImageDraw.Draw(image), max(1, round(max(image.size) / 400))
    for box in boxes:
        corners = [float(box[name]) for name in ("x1", "y1", "x2", "y2")]
        pen.rectangle(corners, outline=colour, width=width)
        pen.text((corners[0] + width + 1, corners[1] + width), named(box), fill=colour)


def chosen_run():
    """The run that is looked at; newest first."""
    runs = {row["run_id"]: row for row in rows(RUNS)}
    if not runs:
        st.info("Nothing is published yet: loupe publish PROJECT.")
        st.stop()

    def called(run):
        row = runs[run]
        return f"{run} · {row['model']} · {row['purpose']} · {row['day']} · {row['pictures']}"

    return st.sidebar.selectbox("Run", list(runs), format_func=called, key="run")


def chosen_picture(run, score):
    """The picture that is looked at; those with the most boxes first."""
    wanted = st.sidebar.text_input("Part of the name", key="name")
    pictures = {row["image_id"]: row for row in rows(PICTURES, score, run, wanted, MOST)}
    if not pictures:
        st.info("The run has no picture of such a name.")
        st.stop()

    def called(image):
        return f"{pictures[image]['file_name']} ({pictures[image]['found']})"

    if len(pictures) == MOST:
        st.sidebar.caption(f"The first {MOST:,}; a part of the name finds the others.")
    return pictures[
        st.sidebar.selectbox("Picture", list(pictures), format_func=called, key="picture")
    ]


def show(run, picture, score):
    """The picture with its boxes, and the tables of both."""
    found, labels = rows(BOXES, run, picture["image_id"], score), []
    if st.sidebar.checkbox("Labels", value=True, key="labels"):
        labels = rows(LABELS, picture["image_id"])
    image, known = pixels(picture)
    drawn(image, labels, LABELLED, lambda box: box["label"])
    drawn(image, found, FOUND, lambda box: f"{box['label']} {box['score']:.2f}")
    st.text(picture["file_name"])  # a heading would take it for Markdown
    st.image(image)
    if not known:
        st.caption("The picture itself is not published; its boxes lie on an empty one.")
    st.write(f"Found: {len(found)}, red. Labelled: {len(labels)}, green.")
    st.dataframe([{"source": "found", **box} for box in found])
    st.dataframe([{"source": "labelled", **box} for box in labels])


def page():
    """All of it."""
    st.title("Loupe: results")
    run = chosen_run()
    score = st.sidebar.slider("Least score", 0.0, 1.0, 0.25, 0.05, key="score")
    show(run, chosen_picture(run, score), score)


page()
