"""Seeded generator of English-like prose for the demo model.

The text is short stories made by a small probabilistic grammar. What matters
is not the stories but what they demand of a language model:

* facts set early (where someone lives, what is in the bag, what it cost, what
  was said) come back word for word 20 to 200 tokens later, so attention must
  find and copy them;
* place names are invented anew for each story from syllables, so they can
  only be copied, never learned by heart;
* lists are repeated in the same order, so position matters: the next item is
  the one after the previous one;
* pronouns, trades and number agreement depend on who was named before.

A model whose attention or rotary positions are damaged therefore gets visibly
worse, which is what a perplexity test needs. Only Random.random() is used,
whose sequence for a seed Python keeps stable between versions.
"""

import random

WOMEN = "Mara Ada Nell Ruth Clara Ines Greta Olive Hanna Petra Selma Wanda".split()
MEN = "Tom Karl Oscar Felix Hugo Ivan Jonas Leo Martin Paul Simon Victor".split()
TRADES = ("baker miller smith sailor tailor doctor teacher farmer hunter painter "
          "clerk weaver shepherd gardener carpenter cook").split()

# Syllables of invented place names: first, optional middle, last.
FIRST = ("Bel Kar Mor Tan Ves Lin Dor Hal Os Ril Sen Tor Wen Gar Fal Nim "
         "Bra Cor Dun Esk Hur Ket Lam Pel").split()
MIDDLE = "a e o den ra mi ko lu ven sa".split()
LAST = "ford ton by wick mar stead holm dale burg low gate field well mouth".split()

THINGS = ("lamp rope knife map jar candle key book basket hammer bell apple cup "
          "blanket ring letter bottle box needle mirror whistle spoon brush egg "
          "hat coat saw drum plate chair flag nail").split()
PLURALS = {"knife": "knives", "box": "boxes", "brush": "brushes"}
ADJECTIVES = ("red old small blue heavy broken green silver wooden long black "
              "clean empty iron yellow round thin dusty").split()
NUMBERS = "two three four five six seven eight nine ten".split()
HOLDERS = "bag chest cart drawer sack basket".split()
ANIMALS = "dog horse goat hen cow crow".split()
STATES = "quiet hungry loud tired calm wet lost".split()
MOODS = "tired happy angry afraid proud sad curious hungry".split()
TIMES = ["in the morning", "that evening", "the next day", "after the rain",
         "before noon", "late at night", "on Sunday", "in the spring",
         "once again", "then", "soon"]
BESIDE = ["by", "near", "behind", "in front of", "beside", "not far from"]
SITES = "river church bridge mill forest road tower well harbour garden gate market".split()
VERBS = "took found hid sold cleaned lost repaired carried dropped wanted".split()
IDLE = "waited slept laughed sang worked rested listened".split()
ORDERS = ["bring", "keep", "hide", "sell", "find", "watch", "give me", "look after"]


def plural(noun):
    return PLURALS.get(noun, noun + "s")


def with_article(words):
    return ("an " if words[0] in "aeiou" else "a ") + words


def capital(text):
    return text[0].upper() + text[1:]


class Person:
    """One character of a story with the facts that stay true through it."""

    def __init__(self, name, woman, trade, home, thing):
        self.name, self.woman, self.trade, self.home, self.thing = name, woman, trade, home, thing
        self.he, self.his, self.him = ("she", "her", "her") if woman else ("he", "his", "him")
        self.holder = self.goods = self.price = self.quote = None


class Story:
    def __init__(self, rng):
        self.rng = rng
        trades, homes, names = [], [], []
        self.cast = []
        for _ in range(2 + (rng.random() < 0.4)):
            woman = rng.random() < 0.5
            name = self.fresh(lambda: self.pick(WOMEN if woman else MEN), names)
            trade = self.fresh(lambda: self.pick(TRADES), trades)
            home = self.fresh(self.place, homes)
            self.cast.append(Person(name, woman, trade, home, self.described_thing()))
        self.last = None     # whom a pronoun would mean now
        self.spots = {}      # animals met so far: whose, how many, where, in what state

    # -- chance -----------------------------------------------------------

    def pick(self, items):
        return items[int(self.rng.random() * len(items))]

    def skewed(self, items):
        """Earlier entries are likelier, as word frequencies are in real text."""
        return items[int(self.rng.random() ** 1.3 * len(items))]

    def chance(self, p):
        return self.rng.random() < p

    def fresh(self, make, used):
        while True:
            value = make()
            if value not in used:
                used.append(value)
                return value

    # -- phrases ----------------------------------------------------------

    def place(self):
        middle = self.pick(MIDDLE) if self.chance(0.5) else ""
        return self.pick(FIRST) + middle + self.pick(LAST)

    def spot(self):
        return self.pick(BESIDE) + " the " + self.pick(SITES)

    def described_thing(self):
        return self.skewed(ADJECTIVES) + " " + self.skewed(THINGS)

    def item(self):
        adjective = self.skewed(ADJECTIVES) + " " if self.chance(0.5) else ""
        noun = self.skewed(THINGS)
        if self.chance(0.5):
            return self.skewed(NUMBERS) + " " + adjective + plural(noun)
        return with_article(adjective + noun)

    def listing(self, items):
        return ", ".join(items[:-1]) + " and " + items[-1] if len(items) > 1 else items[0]

    def subject(self, person):
        """A pronoun right after the person was named, else the name or the trade."""
        if self.last is person and self.chance(0.65):
            return person.he
        self.last = person
        return person.name if self.chance(0.6) else "the " + person.trade

    def other(self, person):
        return self.pick([p for p in self.cast if p is not person])

    def called(self, person):
        return person.name if self.chance(0.6) else "the " + person.trade

    # -- sentences: each returns text without the final stop ----------------

    def introduce(self, p):
        self.last = p
        return self.pick([
            f"{p.name} the {p.trade} lived in {p.home}, {self.spot()}",
            f"{p.name} was a {p.trade} from {p.home} and owned {with_article(p.thing)}",
            f"in {p.home} there lived a {p.trade} whose name was {p.name}",
        ])

    def pack(self, p):
        p.holder = p.holder or self.pick(HOLDERS)
        p.goods = [self.item() for _ in range(3 + int(self.rng.random() * 3))]
        who = self.subject(p)
        return self.pick([
            f"in {p.his} {p.holder} {who} kept {self.listing(p.goods)}",
            f"{who} filled the {p.holder} with {self.listing(p.goods)}",
        ])

    def unpack(self, p):
        if not p.goods:
            return self.pack(p)
        who = self.subject(p)
        text = self.pick([
            f"{who} opened the {p.holder} and found {self.listing(p.goods)}",
            f"{self.pick(TIMES)} {who} took from the {p.holder} {self.listing(p.goods)}",
            f"in the {p.holder} {who} saw {self.listing(p.goods)}",
        ])
        if self.chance(0.3):
            # The list shrinks by its last item, and the reader must know it.
            text += f", but {p.goods[-1]} fell to the ground"
            if len(p.goods) > 2:
                p.goods = p.goods[:-1]
        return text

    def buy(self, p):
        who = self.subject(p)
        if p.price is None:
            p.price = str(11 + int(self.rng.random() * 89))
            return f"{who} bought the {p.thing} for {p.price} coins {self.spot()}"
        return self.pick([
            f"{who} remembered that the {p.thing} had cost {p.price} coins",
            f"{self.pick(TIMES)} {who} paid {p.price} coins for the {p.thing}",
        ])

    def speak(self, p):
        listener = self.other(p)
        if p.quote is None:
            if self.chance(0.5):
                p.quote = f"{self.pick(ORDERS)} the {p.thing} {self.spot()}"
            else:
                p.quote = f"{self.pick(ORDERS)} {self.item()} and {self.item()}"
            self.last = p
            return f'"{capital(p.quote)}," said {self.called(p)} to {self.called(listener)}'
        self.last = None
        return self.pick([
            f'{self.called(listener)} asked {self.called(p)} again, and the answer was: "{capital(p.quote)}"',
            f'{self.called(listener)} still heard the words of {self.called(p)}: "{capital(p.quote)}"',
        ])

    def travel(self, p):
        listener = self.other(p)
        who = self.subject(p)
        return self.pick([
            f"{self.pick(TIMES)} {who} walked from {p.home} to {listener.home} "
            f"to see {self.called(listener)}",
            f"{who} went home to {p.home} with the {p.thing}",
            f"it was far from {p.home} to {listener.home}, and {who} was {self.pick(MOODS)}",
        ])

    def act(self, p):
        who = self.subject(p)
        start = self.pick(TIMES) + " " + who if self.chance(0.4) else who
        r = self.rng.random()
        if r < 0.25:
            return f"{start} {self.skewed(VERBS)} the {p.thing} {self.spot()}"
        if r < 0.6:
            return f"{start} {self.skewed(VERBS)} {self.item()} {self.spot()}"
        return f"{start} {self.skewed(IDLE)} {self.spot()}"

    def observe(self, p):
        """Number agreement with nouns in between, and an animal seen again."""
        self.last = None
        if self.spots and self.chance(0.6):
            noun = self.pick(list(self.spots))
        else:
            noun = self.pick(ANIMALS)
        owner, many, spot, state = self.spots.setdefault(
            noun, (p, self.chance(0.5), self.spot(), self.pick(STATES)))
        verb = "were" if many else "was"
        they = "they" if many else "it"
        head = f"the {plural(noun) if many else noun} of {self.called(owner)} {spot} {verb} {state}"
        if self.chance(0.3):
            head += f", and {they} {verb} not from {self.pick(self.cast).home}"
        return head

    def meet(self, p):
        listener = self.other(p)
        self.last = None
        return self.pick([
            f"{p.name} the {p.trade} and {listener.name} the {listener.trade} met {self.spot()}",
            f"{p.name} showed {p.his} {p.thing} to {listener.name}, who had {with_article(listener.thing)}",
            f"the {p.trade} from {p.home} helped the {listener.trade} from {listener.home}",
        ])

    def sentence(self):
        # Stay with one person for a while, so that pronouns have a reason.
        person = self.last if self.last and self.chance(0.55) else self.pick(self.cast)
        r = self.rng.random()
        for limit, kind in ((0.06, self.pack), (0.28, self.unpack), (0.40, self.speak),
                            (0.51, self.travel), (0.60, self.buy), (0.68, self.observe),
                            (0.78, self.meet), (1.01, self.act)):
            if r < limit:
                return kind(person)

    def text(self):
        sentences = [self.introduce(p) for p in self.cast]
        sentences += [self.sentence() for _ in range(9 + int(self.rng.random() * 9))]
        out, left = "", 3 + int(self.rng.random() * 4)
        for i, s in enumerate(sentences):
            if s.startswith('"'):
                out += s + "."
            elif s.endswith('"'):
                out += capital(s[:-1]) + '."'
            else:
                out += capital(s) + "."
            if i + 1 == len(sentences):
                break
            left -= 1
            out += " " if left else "\n"
            if left == 0:
                left = 3 + int(self.rng.random() * 4)
        return out


def generate(seed, size):
    """At least `size` characters of whole stories, blank lines between them."""
    rng = random.Random(seed)
    stories, total = [], 0
    while total < size:
        stories.append(Story(rng).text() + "\n\n")
        total += len(stories[-1])
    return "".join(stories)


if __name__ == "__main__":
    import sys
    print(generate(int(sys.argv[1]) if len(sys.argv) > 1 else 1, 4000))
