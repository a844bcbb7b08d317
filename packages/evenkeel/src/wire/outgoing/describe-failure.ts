/**
 * Why a call did not get through, in the words that people who run webhooks search for.
 */

/** A text for an error of the network, a name service or TLS. */
export function describeFailure(
  error: Error,
  { host, port }: { readonly host?: string | null | undefined; readonly port?: number | string | null | undefined },
): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  const dialed = `dial tcp ${String(host)}:${String(port)}`
  if (code === 'ECONNREFUSED') return `${dialed}: connect: connection refused`
  if (code === 'ENOTFOUND') return `dial tcp: lookup ${String(host)}: no such host`
  if (code === 'ECONNRESET') return message === 'socket hang up' ? 'EOF' : 'read: connection reset by peer'
  if (code === 'CERT_HAS_EXPIRED')
    return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `tls: failed to verify certificate: x509: certificate is not valid for ${String(host)}`
  if (unknownAuthority.has(code))
    return 'tls: failed to verify certificate: x509: certificate signed by unknown authority'
  return message
}

const unknownAuthority: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
])
