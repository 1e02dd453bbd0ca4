"""What a report says: a run as one immutable value, which every form of a report only lays out.

Pure: from the record and its judgement alone, with nothing of a terminal, a page or a chart.
"""
