"""AES-128 in plain Python, table by table from the standard (FIPS 197)."""


def _double(x):
    """x times 2 in the field of AES."""
    return ((x << 1) ^ 0x1B) & 0xFF if x & 0x80 else x << 1


def _make_box():
    """The substitution box: inverse in the field, then an affine map."""
    box = [0] * 256
    p = q = 1
    while True:
        p ^= _double(p)  # times 3
        q ^= q << 1  # divided by 3
        q ^= q << 2
        q = (q ^ q << 4) & 0xFF
        if q & 0x80:
            q ^= 0x09
        x = q | q << 8
        box[p] = (q ^ x >> 7 ^ x >> 6 ^ x >> 5 ^ x >> 4) & 0xFF ^ 0x63
        if p == 1:
            break
    box[0] = 0x63
    return box


BOX = _make_box()
TWICE = [_double(x) for x in range(256)]
THRICE = [_double(x) ^ x for x in range(256)]
ROUNDS = 10
SHIFTED = [(i + 4 * (i % 4)) % 16 for i in range(16)]  # where ShiftRows takes each byte from


def expand(key):
    """The 11 round keys of a key of 16 bytes."""
    words = [list(key[i:i + 4]) for i in range(0, 16, 4)]
    constant = 1
    for i in range(4, 4 * (ROUNDS + 1)):
        word = list(words[-1])
        if i % 4 == 0:
            word = [BOX[x] for x in word[1:] + word[:1]]
            word[0] ^= constant
            constant = _double(constant)
        words.append([a ^ b for a, b in zip(word, words[-4])])
    return [sum(words[i:i + 4], []) for i in range(0, len(words), 4)]


def encrypt(block, keys):
    """One block of 16 bytes, encrypted."""
    state = [a ^ b for a, b in zip(block, keys[0])]
    for number in range(1, ROUNDS + 1):
        state = [BOX[state[i]] for i in SHIFTED]
        if number < ROUNDS:
            state = _mix(state)
        state = [a ^ b for a, b in zip(state, keys[number])]
    return bytes(state)


def _mix(state):
    mixed = []
    for i in range(0, 16, 4):
        a, b, c, d = state[i:i + 4]
        mixed += (TWICE[a] ^ THRICE[b] ^ c ^ d, a ^ TWICE[b] ^ THRICE[c] ^ d,
                  a ^ b ^ TWICE[c] ^ THRICE[d], THRICE[a] ^ b ^ c ^ TWICE[d])
    return mixed


def counter_mode(data, key, start):
    """data, encrypted or decrypted, with a counter of 16 bytes that begins at start."""
    keys = expand(key)
    counter = int.from_bytes(start, "big")
    out = bytearray()
    for i in range(0, len(data), 16):
        stream = encrypt((counter % (1 << 128)).to_bytes(16, "big"), keys)
        out += bytes(a ^ b for a, b in zip(data[i:i + 16], stream))
        counter += 1
    return bytes(out)
