"""The random streams of docs/reference.md, written a second time and without any library.

Prints the test vectors of random_streams.rs. Run it with any Python 3.
"""

import struct


def words(key):
    """ChaCha8 with the four 64-bit numbers of `key` as its key and a zero nonce."""
    state = [0x61707865, 0x3320646E, 0x79622D32, 0x6B206574]
    state += struct.unpack("<8I", struct.pack("<4Q", *key))
    rotate = lambda x, k: (x << k | x >> 32 - k) & 0xFFFFFFFF
    block = 0
    while True:
        start = state + [block & 0xFFFFFFFF, block >> 32, 0, 0]
        x = list(start)

        def quarter(a, b, c, d):
            x[a] = x[a] + x[b] & 0xFFFFFFFF
            x[d] = rotate(x[d] ^ x[a], 16)
            x[c] = x[c] + x[d] & 0xFFFFFFFF
            x[b] = rotate(x[b] ^ x[c], 12)
            x[a] = x[a] + x[b] & 0xFFFFFFFF
            x[d] = rotate(x[d] ^ x[a], 8)
            x[c] = x[c] + x[d] & 0xFFFFFFFF
            x[b] = rotate(x[b] ^ x[c], 7)

        for _ in range(4):
            for a, b, c, d in (0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15):
                quarter(a, b, c, d)
            for a, b, c, d in (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14):
                quarter(a, b, c, d)
        yield from (a + b & 0xFFFFFFFF for a, b in zip(x, start))
        block += 1


def below(stream, n):
    """Uniform in range(n). A word is refused if its product's low half is below 2^32 mod n."""
    while True:
        product = next(stream) * n
        if product % 2**32 >= 2**32 % n:
            return product >> 32


def unit_f32(stream):
    return (next(stream) >> 8) / 2**24


def unit_f64(stream):
    high = next(stream) >> 5
    return (high << 26 | next(stream) >> 6) / 2**53


def sequence(seed, split, nodes, index, ops):
    stream = words((seed, split, nodes, index))
    priorities = []
    while len(priorities) < nodes:
        priority = unit_f32(stream)
        if priority not in priorities:
            priorities.append(priority)
    operands = []
    for _ in range(ops):
        u = below(stream, nodes)
        v = below(stream, nodes - 1)
        operands.append((u, v + (v >= u)))
    return priorities, operands


if __name__ == "__main__":
    stream = words((0, 0, 0, 0))
    print("zero key:", struct.pack("<16I", *(next(stream) for _ in range(16))).hex())
    stream = words((1, 2, 3, 4))
    print("words:", [hex(next(stream)) for _ in range(20)][-6:])
    for n in 7, 3_000_000_000:
        stream = words((1, 2, 3, 4))
        print("below", n, [below(stream, n) for _ in range(12)], "then", hex(next(stream)))
    stream = words((1, 2, 3, 4))
    print("unit_f32:", [int(unit_f32(stream) * 2**24) for _ in range(6)])
    stream = words((1, 2, 3, 4))
    print("unit_f64:", [int(unit_f64(stream) * 2**53) for _ in range(4)])
    priorities, operands = sequence(seed=5, split=1, nodes=4, index=2, ops=8)
    print("priorities:", [int(p * 2**24) for p in priorities])
    print("operands:", operands)
    # So many nodes that some priority has to be drawn again.
    priorities, operands = sequence(seed=1, split=0, nodes=12_000, index=0, ops=3)
    print("with repeats:", [int(p * 2**24) for p in priorities[-3:]], operands)
    stream = words((1, 0, 12_000, 0))
    print("repeats:", 12_000 - len({unit_f32(stream) for _ in range(12_000)}))
