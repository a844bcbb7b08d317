/**
 * Client certificates: the common name is the user, the organizations are the groups.
 *
 * The TLS handshake has verified the chain, the purpose and the dates; {@link peer.certificate} is set only then. The
 * rest is checked with every request, because connections outlive certificates: the user, the issuing authority, and
 * the validity by the clock of the server. There is no revocation.
 *
 * A listener may trust several authorities for different purposes: those of users, and that of front proxies. The
 * handshake proves only that one of them issued the certificate. The issuer is therefore checked again here: a user's
 * certificate must never be accepted as that of a proxy.
 */
import { createHash, X509Certificate } from 'node:crypto'
import { parseTime } from '#api'
import type { Clock } from '#base'
import type { WirePeer } from '#wire'
import type { Authenticator, User } from '../request-context.ts'
import { credentialKey, withAuthenticatedGroup } from './user.ts'

/** A currently valid certificate of one of the authorities. */
interface CertificateUser {
  /** Undefined when the certificate has no common name. */
  readonly user: User | undefined
  readonly commonName: string
}

interface ValidityPeriod extends CertificateUser {
  readonly fromMs: number
  readonly toMs: number
}

/** The certificates of a set of authorities. */
export class ClientCertificates {
  readonly #authorities: readonly X509Certificate[]
  readonly #clock: Clock
  readonly #ofPeer = new WeakMap<WirePeer, ValidityPeriod | 'foreign'>()
  /** By fingerprint: a resumed session has the certificate without its intermediates. */
  readonly #seen = new Set<string>()

  /** @param pems certificates of authorities, any number in each text. */
  constructor(pems: readonly string[], clock: Clock) {
    this.#authorities = readAuthorities(pems)
    this.#clock = clock
  }

  /** The user of a peer's certificate, if it is valid here. */
  check(peer: WirePeer | undefined): CertificateUser | undefined {
    if (peer?.certificate === undefined) return undefined
    let known = this.#ofPeer.get(peer)
    if (known === undefined) {
      known = this.#read(peer.certificate, peer.issuers ?? [])
      this.#ofPeer.set(peer, known)
    }
    if (known === 'foreign') return undefined
    const now = this.#clock.now()
    return now >= known.fromMs && now <= known.toMs ? known : undefined
  }

  #read(der: Uint8Array, issuers: readonly Uint8Array[]): ValidityPeriod | 'foreign' {
    const certificate = new X509Certificate(der)
    const fingerprint = createHash('sha256').update(der).digest('hex')
    const isOurs =
      this.#seen.has(fingerprint) ||
      isSignedUnder(certificate, {
        authorities: this.#authorities,
        between: issuers.map((issuer) => new X509Certificate(issuer)),
        nowMs: this.#clock.now(),
      })
    if (!isOurs) return 'foreign'
    this.#remember(fingerprint)
    const { commonName, organizations, uids } = subjectOf(certificate)
    const isNamed = commonName !== '' && uids.length <= 1 && uids[0] !== ''
    const user = {
      name: commonName,
      groups: organizations,
      extra: { [credentialKey]: [`X509SHA256=${fingerprint}`] },
      ...(uids[0] !== undefined && { uid: uids[0] }),
    }
    return { ...validityOf(certificate), commonName, user: isNamed ? withAuthenticatedGroup(user) : undefined }
  }

  #remember(fingerprint: string): void {
    if (this.#seen.size >= seenMax) this.#seen.clear()
    this.#seen.add(fingerprint)
  }
}

const seenMax = 10_000

/** Authenticates requests by their client certificates. */
export function certificateAuthenticator(certificates: ClientCertificates): Authenticator {
  return ({ request: { peer } }) => certificates.check(peer)?.user
}

interface CertificateName {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly uids: readonly string[]
}

/** Kubernetes' own attribute for the uid of a user. */
const uidAttribute = '1.3.6.1.4.1.57683.2'

/** Each value by itself: in the text form, a name with a line break could appear as two. */
function subjectOf(certificate: X509Certificate): CertificateName {
  const subject = certificate.toLegacyObject().subject as Partial<Record<string, string | string[]>>
  return {
    commonName: valuesOf(subject['CN']).at(-1) ?? '',
    organizations: valuesOf(subject['O']),
    uids: valuesOf(subject[uidAttribute]),
  }
}

function valuesOf(value: string | string[] | undefined): string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

// The issuing authority of a certificate.

const pemBlock = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

/**
 * The certificates in PEM texts.
 *
 * @throws {RangeError} when a text holds none.
 */
export function readAuthorities(pems: readonly string[]): X509Certificate[] {
  return pems.flatMap((pem) => {
    const blocks = pem.match(pemBlock)
    if (blocks === null)
      throw new RangeError('an authority must be given as certificates in PEM, got a text without one')
    return blocks.map((block) => new X509Certificate(block))
  })
}

interface CertificateChain {
  readonly authorities: readonly X509Certificate[]
  /** Intermediate certificates, each signed by the next. */
  readonly between: readonly X509Certificate[]
  readonly nowMs: number
}

/** Whether a chain of signatures leads from a certificate to one of the authorities. */
export function isSignedUnder(
  certificate: X509Certificate,
  { authorities, between, nowMs }: CertificateChain,
): boolean {
  let current = certificate
  for (const issuer of between) {
    if (authorities.some((authority) => isIssuedBy(current, authority))) return true
    const { fromMs, toMs } = validityOf(issuer)
    if (!issuer.ca || nowMs < fromMs || nowMs > toMs || !isIssuedBy(current, issuer)) return false
    current = issuer
  }
  return authorities.some((authority) => isIssuedBy(current, authority))
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

// The validity period of a certificate, which Node returns as text.

/** The validity period of a certificate, in milliseconds since 1970. */
export function validityOf({ validFrom, validTo }: X509Certificate): {
  readonly fromMs: number
  readonly toMs: number
} {
  return { fromMs: certificateTime(validFrom), toMs: certificateTime(validTo) }
}

/** `Dec 30 00:00:00 2035 GMT` in milliseconds since 1970. */
function certificateTime(text: string): number {
  const [, month = '', day = '', time = '', year = ''] = /^(\w{3}) +(\d+) ([\d:]{8}) (\d{4}) GMT$/.exec(text) ?? []
  const number = 'JanFebMarAprMayJunJulAugSepOctNovDec'.indexOf(month) / 3 + 1
  return parseTime(`${year}-${String(number).padStart(2, '0')}-${day.padStart(2, '0')}T${time}Z`) ?? Number.NaN
}
