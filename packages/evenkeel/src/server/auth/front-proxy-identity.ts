/**
 * The certificates of this server as a front proxy: aggregated API servers accept users in `X-Remote-…` headers only from a
 * client with a certificate of this authority.
 *
 * The authority is not the one of the server: it signs proxies only, so that no user's certificate is one of a proxy.
 */
import type { Clock, Random } from '#base'
import { issueClientCertificate, makeAuthority, type CertificateKeyPair } from '#wire'

export interface FrontProxyIdentity {
  readonly authority: CertificateKeyPair
  /** Signed by the authority, for the name {@link frontProxyName}. */
  readonly client: CertificateKeyPair
}

/** The common name of this proxy. */
export const frontProxyName = 'front-proxy-client'

interface IssueContext {
  readonly clock: Clock
  readonly random: Random
}

export function makeFrontProxyIdentity(context: IssueContext): FrontProxyIdentity {
  const authority = makeAuthority(context)
  return { authority, client: issueFrontProxyClient(authority, context) }
}

export function issueFrontProxyClient(authority: CertificateKeyPair, context: IssueContext): CertificateKeyPair {
  return issueClientCertificate(authority, { ...context, subject: { commonName: frontProxyName } })
}
