/**
 * One X.509 v3 certificate: what it says, in DER, signed with ECDSA P-256 and SHA-256.
 *
 * Invariants: the serial number is positive and has 126 random bits; key identifiers are the first 160 bits of the
 * SHA-256 of the public key (RFC 7093), so issuer and subject agree on them without reading each other's certificate.
 */
import { createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { formatTime } from '#api'
import type { Random } from '#base'
import { bitString, explicit, implicit, octetString, oid, sequence, setOf, time, truth, unsigned, utf8 } from './der.ts'

/** Who a certificate is about: a user (common name) and, in Kubernetes, groups (organizations). */
export interface CertificateSubject {
  readonly commonName: string
  readonly organizations?: readonly string[]
}

export interface CertificateExtension {
  readonly id: string
  readonly value: Uint8Array
  readonly isCritical?: boolean
}

interface CertificateContent {
  readonly subject: CertificateSubject
  readonly issuer: CertificateSubject
  readonly publicKey: KeyObject
  /** The issuer's; for an authority its own. */
  readonly signingKey: KeyObject
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly extensions: readonly CertificateExtension[]
  readonly random: Random
}

const ids = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  authorityKeyIdentifier: '2.5.29.35',
} as const
const version3 = Uint8Array.of(2)

/** A new P-256 pair. */
export function makeKeyPair(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** The certificate in PEM. */
export function signCertificate({
  subject,
  issuer,
  publicKey,
  signingKey,
  notBeforeMs,
  notAfterMs,
  extensions,
  random,
}: CertificateContent): string {
  const algorithm = sequence(oid(ids.ecdsaWithSha256))
  const identifiers = [
    { id: ids.subjectKeyIdentifier, value: octetString(keyIdentifier(publicKey)) },
    { id: ids.authorityKeyIdentifier, value: sequence(implicit(0, keyIdentifier(createPublicKey(signingKey)))) },
  ]
  const content = sequence(
    explicit(0, unsigned(version3)),
    unsigned(serialNumber(random)),
    algorithm,
    distinguishedName(issuer),
    sequence(time(formatTime(notBeforeMs)), time(formatTime(notAfterMs))),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...[...extensions, ...identifiers].map(encodeExtension))),
  )
  const signature = sign('sha256', content, { key: signingKey, dsaEncoding: 'der' })
  return toPem(sequence(content, algorithm, bitString(signature)))
}

function distinguishedName({ commonName, organizations = [] }: CertificateSubject): Uint8Array {
  const part = (id: string, text: string): Uint8Array => setOf(sequence(oid(id), utf8(text)))
  return sequence(...organizations.map((name) => part(ids.organization, name)), part(ids.commonName, commonName))
}

function encodeExtension({ id, value, isCritical = false }: CertificateExtension): Uint8Array {
  return sequence(oid(id), ...(isCritical ? [truth()] : []), octetString(value))
}

/** Over the bare point: the last 65 bytes of a P-256 key's DER form. */
function keyIdentifier(publicKey: KeyObject): Uint8Array {
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)
  return createHash('sha256').update(point).digest().subarray(0, 20)
}

/** Sixteen bytes whose first bits are 01: positive, and as long as every other. */
function serialNumber(random: Random): Uint8Array {
  const bytes = Buffer.alloc(16)
  for (let offset = 0; offset < bytes.length; offset += 4) bytes.writeUInt32BE(random.uint32(), offset)
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40
  return bytes
}

function toPem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
