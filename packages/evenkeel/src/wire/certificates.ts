/**
 * A private certificate authority, and the server and client certificates that it issues: X.509 v3, signed with ECDSA
 * P-256 and SHA-256. Keys are P-256 too, unless a client brings an RSA key.
 *
 * Invariants: an authority signs no other authority; a server certificate is valid for servers only, a client certificate
 * for clients only; every certificate is backdated by an hour, for machines whose clocks are behind; serial numbers are
 * positive and have 126 random bits; key identifiers are the first 160 bits of the SHA-256 of the public key (RFC 7093),
 * so that issuer and subject agree on them.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  generateKeyPairSync,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto'
import { isIPv4, isIPv6 } from 'node:net'
import { promisify } from 'node:util'
import { formatTime } from '#api'
import type { Clock, Random } from '#base'
import {
  bitString,
  explicit,
  implicit,
  namedBits,
  octetString,
  oid,
  sequence,
  setOf,
  time,
  truth,
  unsigned,
  utf8,
} from './der.ts'

interface KeyPair {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/** A certificate and its private key, both in PEM. */
export interface CertificateKeyPair {
  readonly certificatePem: string
  readonly keyPem: string
}

interface IssueOptions {
  clock: Clock
  random: Random
  /**
   * How long the certificate is valid.
   *
   * @default ten years for an authority, one year for other certificates
   */
  validMs?: number
}

const extensionIds = {
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  subjectAltName: '2.5.29.17',
} as const
const usages = { digitalSignature: 0, certificateSign: 5, revocationSign: 6 } as const
const purposes = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const
const backdatedMs = 3_600_000
const yearMs = 365 * 86_400_000

/** Creates an authority with a random name. */
export function makeAuthority({ clock, random, validMs = 10 * yearMs }: IssueOptions): CertificateKeyPair {
  const { publicKey, privateKey } = makeKeyPair()
  const subject = { commonName: `evenkeel-ca-${random.uint32().toString(16).padStart(8, '0')}` }
  const extensions = [
    { id: extensionIds.basicConstraints, value: sequence(truth(), unsigned(Uint8Array.of(0))), isCritical: true },
    { id: extensionIds.keyUsage, value: namedBits(usages.certificateSign, usages.revocationSign), isCritical: true },
  ]
  const validity = validityFrom(clock, validMs)
  return {
    certificatePem: signCertificate({
      subject,
      issuer: subject,
      publicKey,
      signingKey: privateKey,
      extensions,
      random,
      ...validity,
    }),
    keyPem: keyToPem(privateKey),
  }
}

/** Issues a certificate for a server with the given DNS names and IP addresses. */
export function issueServerCertificate(
  authority: CertificateKeyPair,
  { names, ...options }: IssueOptions & { names: readonly string[] },
): CertificateKeyPair {
  if (names.length === 0) throw new RangeError('a server certificate needs at least one name')
  return issue(authority, {
    ...options,
    subject: { commonName: 'evenkeel' },
    purpose: purposes.server,
    more: [{ id: extensionIds.subjectAltName, value: alternativeNames(names) }],
  })
}

/**
 * Issues a client certificate: the common name is the user, the organizations are the groups.
 *
 * @param options.keys the key of the client. @default a new P-256 key
 */
export function issueClientCertificate(
  authority: CertificateKeyPair,
  { subject, ...options }: IssueOptions & { subject: CertificateSubject; keys?: KeyPair },
): CertificateKeyPair {
  return issue(authority, { ...options, subject, purpose: purposes.client, more: [] })
}

/**
 * Generates an RSA key pair of 2,048 bits, in the thread pool: it takes a tenth of a second and more.
 *
 * For kubeconfig files. Java's clients take a PKCS#8 key for RSA, and read other EC keys only with an extra library.
 */
export function makeRsaKeyPair(): Promise<KeyPair> {
  return promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
}

interface IssueRequest extends IssueOptions {
  readonly subject: CertificateSubject
  readonly purpose: string
  readonly more: readonly CertificateExtension[]
  readonly keys?: KeyPair
}

function issue(
  authority: CertificateKeyPair,
  { clock, random, validMs = yearMs, subject, purpose, more, keys = makeKeyPair() }: IssueRequest,
): CertificateKeyPair {
  const { publicKey, privateKey } = keys
  const extensions = [
    { id: extensionIds.basicConstraints, value: sequence(), isCritical: true },
    { id: extensionIds.keyUsage, value: namedBits(usages.digitalSignature), isCritical: true },
    { id: extensionIds.extendedKeyUsage, value: sequence(oid(purpose)) },
    ...more,
  ]
  const issuer = issuerOf(authority)
  const certificatePem = signCertificate({
    subject,
    issuer,
    publicKey,
    signingKey: createPrivateKey(authority.keyPem),
    extensions,
    random,
    ...validityFrom(clock, validMs),
  })
  return { certificatePem, keyPem: keyToPem(privateKey) }
}

/** The subject of an authority of {@link makeAuthority}: one common name. */
function issuerOf({ certificatePem }: CertificateKeyPair): CertificateSubject {
  const { subject } = new X509Certificate(certificatePem)
  const [, commonName] = /^CN=([\w-]+)$/.exec(subject) ?? []
  if (commonName === undefined)
    throw new RangeError(`only an authority of makeAuthority can issue certificates, got ${JSON.stringify(subject)}`)
  return { commonName }
}

function validityFrom(clock: Clock, validMs: number): { notBeforeMs: number; notAfterMs: number } {
  if (!(validMs > 0)) throw new RangeError(`validMs must be above 0, got ${validMs}`)
  return { notBeforeMs: clock.now() - backdatedMs, notAfterMs: clock.now() + validMs }
}

function keyToPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** The subject of a certificate: in Kubernetes, a user (common name) and groups (organizations). */
interface CertificateSubject {
  readonly commonName: string
  readonly organizations?: readonly string[]
}

interface CertificateExtension {
  readonly id: string
  readonly value: Uint8Array
  readonly isCritical?: boolean
}

interface CertificateContent {
  readonly subject: CertificateSubject
  readonly issuer: CertificateSubject
  readonly publicKey: KeyObject
  /** The key of the issuer; for an authority its own. */
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

/** Generates a P-256 key pair. */
function makeKeyPair(): KeyPair {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

/** Encodes and signs a certificate; returns it in PEM. */
function signCertificate({
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

/** Of the subjectPublicKey: for RSA its own encoding, for P-256 the uncompressed point, the last 65 bytes of the SPKI. */
function keyIdentifier(publicKey: KeyObject): Uint8Array {
  const content =
    publicKey.asymmetricKeyType === 'rsa'
      ? publicKey.export({ type: 'pkcs1', format: 'der' })
      : publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)
  return createHash('sha256').update(content).digest().subarray(0, 20)
}

/** Sixteen bytes whose first bits are 01: positive, and of constant length. */
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

const dnsNameTag = 2
const addressTag = 7
const dnsName = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/i

/** The value of a subjectAltName extension, in the given order. */
function alternativeNames(names: readonly string[]): Uint8Array {
  return sequence(...names.map(alternativeName))
}

function alternativeName(name: string): Uint8Array {
  if (isIPv4(name)) return implicit(addressTag, Uint8Array.from(name.split('.').map(Number)))
  if (isIPv6(name) && !name.includes('%')) return implicit(addressTag, ipv6Bytes(name))
  if (name.length <= 253 && dnsName.test(name)) return implicit(dnsNameTag, Buffer.from(name))
  throw new RangeError(`a certificate name must be a DNS name or an IP address, got ${JSON.stringify(name)}`)
}

/** The 16 bytes of a valid IPv6 address; `::` stands for the missing zero groups. */
function ipv6Bytes(address: string): Uint8Array {
  const [head = '', tail] = withoutDots(address).split('::')
  const before = groupsOf(head)
  const after = groupsOf(tail ?? '')
  const groups = [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]))
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

/** Rewrites the dotted end of `::ffff:1.2.3.4` as two groups. */
function withoutDots(address: string): string {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  if (!dotted) return address
  const [a = 0, b = 0, c = 0, d = 0] = dotted.slice(1).map(Number)
  return `${address.slice(0, dotted.index)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
}
