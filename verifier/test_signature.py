"""Tests of what seals a certificate: signatures and the canonical form."""

from __future__ import annotations

import unittest
from typing import Any

import efface_verify as verify
from sample_certificates import SEED, encode, sign


class Ed25519(unittest.TestCase):
    # Key, message and signature of tests 1 to 3 of RFC 8032, section 7.1.
    CASES = (
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            (
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
                "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            ),
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            (
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e"
                "458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            ),
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            (
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290"
                "ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
            ),
        ),
    )

    def test_the_vectors_of_the_rfc_hold_and_one_flipped_bit_breaks_them(self) -> None:
        for key_hex, message_hex, signature_hex in self.CASES:
            key, message = bytes.fromhex(key_hex), bytes.fromhex(message_hex)
            signature = bytes.fromhex(signature_hex)
            self.assertTrue(verify.ed25519_holds(key, message, signature))
            self.assertFalse(verify.ed25519_holds(key, message + b"x", signature))
            for position in (0, 31, 32, 63):
                flipped = bytearray(signature)
                flipped[position] ^= 1
                self.assertFalse(verify.ed25519_holds(key, message, bytes(flipped)))

    def test_the_test_signer_makes_the_signature_of_the_rfc(self) -> None:
        seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
        key, signature = sign(seed, b"")
        self.assertEqual((key.hex(), signature.hex()), (self.CASES[0][0], self.CASES[0][2]))

    def test_malleable_and_small_order_signatures_are_refused(self) -> None:
        key, signature = sign(SEED, b"m")
        s = int.from_bytes(signature[32:], "little") + verify.ORDER
        self.assertFalse(verify.ed25519_holds(key, b"m", signature[:32] + s.to_bytes(32, "little")))
        identity = encode(verify.IDENTITY)
        self.assertFalse(verify.ed25519_holds(identity, b"m", identity + bytes(32)))
        self.assertFalse(verify.ed25519_holds(key, b"m", signature[:-1]))
        self.assertFalse(verify.ed25519_holds(b"\xff" * 32, b"m", signature))


class CanonicalForm(unittest.TestCase):
    def test_keys_are_ordered_by_utf16_and_strings_escaped_as_in_rfc_8785(self) -> None:
        value: dict[str, Any] = {
            "\u20ac": 1,
            "\r": None,
            "\ufb33": True,
            "\U0001f600": '\x0f\n"\\/\u2028',
            "1": [],
        }
        expected = (
            '{"\\r":null,"1":[],"\u20ac":1,"\U0001f600":"\\u000f\\n\\"\\\\/\u2028","\ufb33":true}'
        )
        self.assertEqual(verify.canonical(value).decode(), expected)
