"""Numbers as the papers print them, typed in: one line a row, its name, a bar, its figures in the table's order.

A dash stands for a cell that the paper leaves empty.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Printed:
    """A printed number. It stands for every number that would have been printed so: `value` give or take `half`."""

    text: str

    @property
    def value(self) -> Fraction:
        return Fraction(self.text)

    @property
    def half(self) -> Fraction:
        """Half a unit of the last digit; 0 for a count."""
        _, point, digits = self.text.partition(".")
        return Fraction(1, 2 * 10 ** len(digits)) if point else Fraction(0)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return self.value - self.half, self.value + self.half


Row = tuple[Printed, ...]
Table = Mapping[str, Row]


def read(text: str) -> Table:
    """A table by the names of its rows."""
    lines = (line.split("|") for line in text.strip().splitlines())
    return {name.strip(): tuple(Printed(cell) for cell in cells.split() if cell != "-") for name, cells in lines}


# RoboGaze. Models are named by their family where that is enough.

SPLITS = read("""
GR1-Sim   | 154 300 139 16 8.69  0.51
GR1-Real  | 100 175  93 16 5.8   0.57
DROID-MV  | 128 192 277 16 17.31 0.67
""")
"""Tables 2 and 7: clips, generated pool, frames, frames a second, duration in s, pass rate of the filter."""

AGREEMENT = read("""
detection kappa   | 0.82 0.79 0.71 0.77
dimension kappa   | 0.74 0.70 0.63 0.69
temporal IoU      | 0.68 0.65 0.58 0.64
severity alpha    | 0.66 0.62 0.55 0.61
description       | 0.79 0.76 0.71 0.75
""")
"""Table 3: the three splits, overall."""

MAIN = read("""
Gemini 3.1 Pro    | 25.4 32.4 67.9 .39 .43 .64 9.8 13.9 43.7 .13 .21 .92
GPT-5.5           | 23.9 30.5 65.1 .37 .41 .63 8.8 12.5 41.1 .09 .18 .90
Gemini 3.1 Flash  | 20.2 26.1 57.8 .35 .39 .61 7.0 10.2 35.0 .08 .16 .87
Claude Sonnet 4.6 | 21.4 27.6 60.3 .36 .40 .61 7.7 11.0 36.8 .11 .20 .89
Gemma4-31B        | 17.6 23.4 56.6 .33 .37 .66 5.7 8.7 34.5 .03 .12 .86
Qwen3.6-35B       | 16.7 22.3 53.1 .32 .36 .60 5.4 8.2 31.6 .16 .23 .84
LLaVA-OV-2-8B     | 14.2 19.5 47.9 .30 .33 .56 4.3 6.5 26.9 .18 .25 .82
InternVL3.5-38B   | 15.5 21.0 50.1 .31 .35 .58 4.8 7.4 28.9 .04 .13 .81
""")
"""Table 4: description F1, mIoU, F x IoU and clean accuracy, each under V, CoT and RG."""

HUMAN = read("human | 75.5 0.71 47.1 0.94")["human"]
"""Table 4's last row: description F1, mIoU, F x IoU, clean accuracy."""

ABLATION = read("full | 56.6 0.66 34.5 81.4")["full"]
"""Table 5's first row: description F1, mIoU, F x IoU, severity within 1 in percent."""

REGIMES = read("""
Gemini 3.1 Pro | 25.4 67.9 26.1 68.7
Gemma4-31B     | 17.6 56.6 16.3 54.7
""")
"""Table 10: description F1 of V and RG in the default regime, then in the other one."""

DETECTION = read("""
Gemini 3.1 Pro V   | 0.71 0.96 0.82 0.13
Gemini 3.1 Pro CoT | 0.74 0.95 0.83 0.21
Gemini 3.1 Pro RG  | 0.93 0.95 0.94 0.92
Gemma4-31B V       | 0.69 0.97 0.81 0.03
Gemma4-31B CoT     | 0.72 0.96 0.82 0.12
Gemma4-31B RG      | 0.90 0.96 0.93 0.86
LLaVA-OV-2-8B V    | 0.71 0.93 0.81 0.18
LLaVA-OV-2-8B CoT  | 0.73 0.94 0.82 0.25
LLaVA-OV-2-8B RG   | 0.88 0.95 0.91 0.82
human              | 0.94 0.96 0.95 0.94
""")
"""Table 11: precision, recall, F1, clean accuracy; 268 clips with and 114 without a glitch."""

SEVERITY_WITHIN1 = Printed("0.81")
"""Table 12, Gemma4-31B under RG."""

LAMBDA = read("""
Gemini 3.1 Pro    | 64.9 66.2 67.9 70.4
GPT-5.5           | 62.4 63.6 65.1 67.7
Gemini 3.1 Flash  | 54.7 56.0 57.8 60.5
Claude Sonnet 4.6 | 57.1 58.4 60.3 63.0
Gemma4-31B        | 53.6 54.9 56.6 59.0
Qwen3.6-35B       | 50.4 51.6 53.1 55.6
LLaVA-OV-2-8B     | 45.0 46.3 47.9 50.4
InternVL3.5-38B   | 47.1 48.4 50.1 52.6
""")
"""Table 16: description F1 under RG with lambda 0, 0.1, 0.25 and 0.5."""

P_BOUND = "<0.001"
"""A p that Table 19 does not print as a number."""

CALLS = read("calls | 1.0 2.0 1.0 1.0 2.5 1.5 9.0")["calls"]
"""Table 17: calls of each step, and of all."""

INTERVALS = read("""
Gemini 3.1 Pro    | 67.9 65.4 70.2
GPT-5.5           | 65.1 62.6 67.5
Claude Sonnet 4.6 | 60.3 57.7 62.8
Gemini 3.1 Flash  | 57.8 55.1 60.4
Gemma4-31B        | 56.6 53.8 59.1
Qwen3.6-35B       | 53.1 50.3 55.6
InternVL3.5-38B   | 50.1 47.3 52.8
LLaVA-OV-2-8B     | 47.9 45.0 50.6
""")
"""Table 18: description F1 under RG, low, high."""

ADJACENT = read("""
Gemini 3.1 Pro - GPT-5.5             | 2.8  1.1 4.5 <0.001
GPT-5.5 - Claude Sonnet 4.6          | 4.8  2.6 7.0 <0.001
Claude Sonnet 4.6 - Gemini 3.1 Flash | 2.5  0.4 4.5 0.018
Gemini 3.1 Flash - Gemma4-31B        | 1.2 -0.9 3.3 0.27
Gemma4-31B - Qwen3.6-35B             | 3.5  1.4 5.6 0.001
Qwen3.6-35B - InternVL3.5-38B        | 3.0  1.0 5.0 0.004
InternVL3.5-38B - LLaVA-OV-2-8B      | 2.2  0.1 4.3 0.040
""")
"""Table 19: difference, low, high, p."""

STRICT = read("""
Gemini 3.1 Pro V  | 33.1 20.6 25.4
Gemini 3.1 Pro RG | 69.5 66.3 67.9 42.5
Gemma4-31B V      | 25.3 13.5 17.6
Gemma4-31B RG     | 58.4 54.9 56.6 39.0
LLaVA-OV-2-8B V   | 20.6 10.8 14.2
LLaVA-OV-2-8B RG  | 49.3 46.6 47.9 33.7
""")
"""Table 20, strict: P, R, F1, and for RG its gain."""

LOOSE = read("""
Gemini 3.1 Pro V  | 22.1 17.9 19.8
Gemini 3.1 Pro RG | 66.8 64.6 65.7 45.9
Gemma4-31B V      | 15.4 10.2 12.4
Gemma4-31B RG     | 55.7 52.4 54.0 41.6
LLaVA-OV-2-8B V   | 11.7 8.1 9.6
LLaVA-OV-2-8B RG  | 46.8 44.1 45.4 35.8
""")
"""Table 20, loose: P, R, F1, and for RG its gain."""

VOTES = read("""
Gemini 3.1 Pro | 25.4 31.1 67.9 5.7 13.4
GPT-5.5        | 23.9 29.2 65.1 5.3 12.9
Gemma4-31B     | 17.6 22.0 56.6 4.4 11.3
LLaVA-OV-2-8B  | 14.2 19.6 47.9 5.4 16.0
""")
"""Table 21: V, V@3, RG, gain of V@3, percent of the gap it closes."""

TAXONOMY = read("""
Gemini 3.1 Pro | 25.4 36.2 67.9 10.8 25.4
GPT-5.5        | 23.9 34.1 65.1 10.2 24.8
Gemma4-31B     | 17.6 26.4 56.6 8.8 22.6
LLaVA-OV-2-8B  | 14.2 20.8 47.9 6.6 19.6
""")
"""Table 22: V, V+Tax, RG, gain of V+Tax, percent of the gap it closes."""

THRESHOLDS = read("""
0.30 | 0.50  0.63  0.558 33.0 0.74 0.96
0.40 | 0.55  0.61  0.578 34.1 0.80 0.95
0.50 | 0.585 0.548 0.566 34.5 0.86 0.94
0.60 | 0.61  0.50  0.549 33.6 0.91 0.89
0.70 | 0.64  0.43  0.515 31.2 0.95 0.81
""")
"""Table 23: P, R, F1, F x IoU, clean accuracy, recall of glitchy clips."""

PILOT = read("""
V         | 22.7 0.36 8.2  0.17
CoT       | 28.9 0.40 11.6 0.24
RG        | 62.3 0.61 38.0 0.88
main gap  | 42.5 0.79
pilot gap | 39.6 0.71
retention | 93.2 89.9
""")
"""Table 24: description F1, mIoU, F x IoU, clean accuracy over 9 clean clips; then gaps and percent."""

FAMILIES = read("""
clips              | 183  48   81   70
Gemini 3.1 Pro     | 69.4 66.1 67.0 63.8
Gemma4-31B         | 58.0 54.2 56.5 53.1
Gemini 3.1 Pro gain | 42.3 40.6 42.1 39.4
Gemma4-31B gain    | 38.6 37.1 39.0 36.7
""")
"""Table 25: pick/place, pour, push, articulated."""

EMBODIMENTS = read("""
clips               | 254  128
Gemini 3.1 Pro      | 68.5 66.7
Gemma4-31B          | 57.2 55.1
Gemini 3.1 Pro gain | 42.2 41.0
Gemma4-31B gain     | 39.1 37.3
""")
"""Table 26: GR1, DROID-MV."""

# GLIDE.

GLIDE_PLAIN = read("""
gemi-2.0-flash   | 18.36 25.35 21.29 0.44 10.55
gpt-4o-mini      | 12.33 32.36 17.86 0.35 6.20
claude-3.5-haiku | 21.66 32.54 26.01 0.47 12.91
nova-lite-v1     | 6.66 23.77 10.41 0.28 2.98
Qwen2.5-VL-3B    | 11.08 26.53 15.63 0.31 4.81
Qwen2.5-VL-7B    | 10.41 14.74 12.20 0.30 4.11
InternVL2.5-4B   | 8.62 22.93 12.53 0.18 1.92
InternVL2.5-8B   | 11.90 23.36 15.77 0.25 4.06
UI-TARS-1.5-7B   | 19.08 24.93 21.62 0.40 9.11
LLaVA-OV-7B      | 5.90 19.50 9.06 0.26 2.18
""")
"""Table 3 without GLIDE: P, R, F1, mIoU, F1 x IoU. The first four are the proprietary models."""

GLIDE = read("""
Qwen2.5-VL-3B    | 32.36 39.38 35.52 0.48 17.29
Qwen2.5-VL-7B    | 34.55 45.09 39.12 0.53 19.46
InternVL2.5-4B   | 29.15 36.87 32.56 0.52 15.27
InternVL2.5-8B   | 32.64 40.97 36.33 0.50 17.04
UI-TARS-1.5-7B   | 34.31 49.28 40.45 0.51 17.02
LLaVA-OV-7B      | 30.13 34.85 32.32 0.50 16.24
""")
"""Table 3 with GLIDE."""

GLIDE_GAINS = read("""
Qwen2.5-VL-3B    | 21.28 12.85 19.89 0.17 12.48
Qwen2.5-VL-7B    | 24.14 30.35 26.92 0.23 15.35
InternVL2.5-4B   | 20.53 13.94 20.03 0.34 13.35
InternVL2.5-8B   | 20.74 17.61 20.56 0.25 12.98
UI-TARS-1.5-7B   | 15.23 24.35 18.83 0.11 7.91
LLaVA-OV-7B      | 24.23 15.35 23.26 0.24 14.06
""")
"""Table 3, in brackets: what GLIDE adds."""

GLIDE_MEANS = read("""
F1       | 14.47 36.05 21.58
mIoU     | 0.28 0.51 0.23
F1 x IoU | 4.37 17.05
""")
"""Section 5.3: means over the six open models without and with GLIDE, and the gain."""

GLIDE_ABLATION = read("""
GLIDE      | 34.55 45.09 39.12
w/o memory | 30.65 35.80 33.03
w/o debate | 28.94 36.21 32.17
""")
"""Table 4: P, R, F1 of Qwen2.5-VL-7B."""

GLIDE_GROUNDING = read("""
Qwen2.5-VL-7B  | 0.53
InternVL2.5-8B | 0.50
UI-TARS-1.5-7B | 0.51
""")
"""Table 5, first column: mIoU."""

GENRES = read("""
Action     | 3834 73.20 1533 29.27 1368 26.12 264 5.04 260 4.96 163 3.11 133 2.54 71 1.36 30 0.57 12 0.23
Simulation | 974 18.59 510 9.74 258 4.93 140 2.67 66 1.26
RPG        | 313 5.98 264 5.04 20 0.38 19 0.36 10 0.19
Strategy   | 60 1.15 30 0.57 30 0.57
Puzzle     | 47 0.90 47 0.90
Adventure  | 10 0.19 10 0.19
""")
"""Table 6: videos and percent of 5,238, of the genre and then of each subgenre."""

# GBQA.

LEADERBOARD = read("""
Claude-4.6-Opus            | 14.52 20.97 25.81 31.45 22.58 28.23 31.45 37.90 37.90
Claude-4.5-Sonnet          | 11.29 16.13 18.55 20.97 17.74 25.00 28.23 32.26 32.26
GPT-5.2                    | 7.26 10.48 12.90 14.52 11.29 16.94 19.35 22.58 22.58
Kimi-K2.5-1T-A32B          | 6.45 9.68 11.29 13.71 10.48 15.32 17.74 20.97 20.97
Gemini-3-Flash             | 6.45 8.87 10.48 12.10 9.68 13.71 16.13 19.35 19.35
DeepSeek-V3.2              | 6.45 9.68 10.48 12.90 9.68 14.52 16.94 20.16 20.16
Llama-3.1-8B               | 2.42 3.23 4.84 5.65 4.03 5.65 7.26 8.87 8.87
Llama-3.1-70B              | 4.03 6.45 8.06 9.68 6.45 9.68 12.10 14.52 14.52
Qwen3-8B                   | 4.03 5.65 6.45 7.26 6.45 8.06 9.68 10.48 10.48
Qwen3-32B                  | 4.84 7.26 9.68 10.48 6.45 11.29 14.52 15.32 15.32
Qwen3-235B-A22B            | 5.65 9.68 10.48 12.10 8.87 14.52 16.13 18.55 18.55
Qwen3.5-397B-A17B          | 8.06 11.29 13.71 15.32 12.10 17.74 20.97 24.19 24.19
Claude-4.6-Opus-Thinking   | 16.94 23.39 29.03 35.48 25.00 34.68 41.13 48.39 48.39
Claude-4.5-Sonnet-Thinking | 12.10 17.74 21.77 26.61 19.35 25.81 30.65 37.10 37.10
OpenAI-o3                  | 11.29 16.13 20.97 25.00 17.74 25.00 29.84 34.68 34.68
Kimi-K2.5-Thinking         | 8.87 12.90 16.13 20.16 14.52 20.16 24.19 28.23 28.23
Gemini-3-Pro               | 10.48 15.32 19.35 23.39 16.94 22.58 27.42 33.06 33.06
DeepSeek-R1                | 11.29 17.74 22.58 27.42 19.35 27.42 32.26 37.90 37.90
Qwen3-8B-Thinking          | 7.26 10.48 12.90 16.13 12.10 16.94 20.97 24.19 24.19
Qwen3-32B-Thinking         | 9.68 14.52 19.35 24.19 15.32 23.39 29.03 33.87 33.87
Qwen3-235B-A22B-Thinking   | 10.48 16.13 20.97 25.00 18.55 25.00 30.65 35.48 35.48
Qwen3.5-397B-A17B-Thinking | 13.71 19.35 25.00 30.65 20.97 28.23 35.48 41.13 41.13
""")
"""Table 1: recall in percent of 124 bugs, player mode at four budgets, quality assurance mode at four, the best."""
