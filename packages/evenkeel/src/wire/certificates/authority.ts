/**
 * A certificate authority of our own, and what it signs: one server certificate, and certificates for clients.
 *
 * Invariants: an authority signs no other authority; a server certificate is good for serving only and a client
 * certificate for calling only; everything is valid from an hour ago, for machines whose clocks are a little behind.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Clock, Random } from '#base'
import { alternativeNames } from './alternative-names.ts'
import { makeKeyPair, signCertificate } from './certificate.ts'
import type { CertificateExtension, CertificateSubject } from './certificate.ts'
import { namedBits, oid, sequence, truth, unsigned } from './der.ts'

/** A certificate and the key that goes with it, both in PEM. */
export interface CertificateKeyPair {
  readonly certificatePem: string
  readonly keyPem: string
}

interface IssueOptions {
  clock: Clock
  random: Random
  /**
   * How long it is good for.
   *
   * @default ten years for an authority, one year for everything else
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

/** A new authority, with a name that no other has. */
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

/** A certificate for a server that is reached under the given names and addresses. */
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

/** A certificate for a caller: the common name is the user, the organizations are the groups. */
export function issueClientCertificate(
  authority: CertificateKeyPair,
  { subject, ...options }: IssueOptions & { subject: CertificateSubject },
): CertificateKeyPair {
  return issue(authority, { ...options, subject, purpose: purposes.client, more: [] })
}

interface IssueRequest extends IssueOptions {
  readonly subject: CertificateSubject
  readonly purpose: string
  readonly more: readonly CertificateExtension[]
}

function issue(
  authority: CertificateKeyPair,
  { clock, random, validMs = yearMs, subject, purpose, more }: IssueRequest,
): CertificateKeyPair {
  const { publicKey, privateKey } = makeKeyPair()
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

/** Only names as {@link makeAuthority} gives them: one common name. */
function issuerOf({ certificatePem }: CertificateKeyPair): CertificateSubject {
  const { subject } = new X509Certificate(certificatePem)
  const [, commonName] = /^CN=([\w-]+)$/.exec(subject) ?? []
  if (commonName === undefined)
    throw new RangeError(`only an authority that was made here can issue, got ${JSON.stringify(subject)}`)
  return { commonName }
}

function validityFrom(clock: Clock, validMs: number): { notBeforeMs: number; notAfterMs: number } {
  if (!(validMs > 0)) throw new RangeError(`validMs must be above 0, got ${validMs}`)
  return { notBeforeMs: clock.now() - backdatedMs, notAfterMs: clock.now() + validMs }
}

function keyToPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}
