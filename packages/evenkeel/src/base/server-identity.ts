/**
 * Whether a certificate is for whom was called: Node's own check, but for addresses of version 6.
 *
 * Node 22.23 takes such an address for a name, and refuses every certificate for it.
 */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { checkServerIdentity as checkByNode } from 'node:tls'
import type { PeerCertificate } from 'node:tls'

/** What is wrong, if anything; to be given to `connect`. */
export function checkServerIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  if (isIP(host) !== 6) return checkByNode(host, certificate)
  if (new X509Certificate(certificate.raw).checkIP(host) !== undefined) return undefined
  const reason = `IP: ${host} is not in the cert's list: ${certificate.subjectaltname ?? ''}`
  return Object.assign(new Error(`Hostname/IP does not match certificate's altnames: ${reason}`), { code: 'ERR_TLS_CERT_ALTNAME_INVALID', reason, host, cert: certificate })
}
