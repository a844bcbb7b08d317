/**
 * Which authority stands behind a certificate.
 *
 * A listener may trust several authorities for different things: those of users, and that of a proxy which speaks for
 * users. The handshake only says that one of them is behind a certificate; a user's certificate must never pass for the proxy's.
 */
import { X509Certificate } from 'node:crypto'
import { validityOf } from '../../identity/certificate-time.ts'

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
  /** Certificates that lie between, each signed by the next. */
  readonly between: readonly X509Certificate[]
  readonly nowMs: number
}

/** Whether signatures lead from a certificate to one of the authorities. */
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
