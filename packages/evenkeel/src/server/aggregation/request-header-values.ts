/**
 * How aggregated API servers recognise this proxy: the request header values of the ConfigMap
 * `kube-system/extension-apiserver-authentication`, which they read at their start.
 *
 * Several servers on one store publish the authorities of all, each adds its own.
 */
import type { FrontProxyOptions } from '../auth/authentication-options.ts'
import { frontProxyName, type FrontProxyIdentity } from '../auth/front-proxy-identity.ts'

/** A server with a new authority at every start does not fill the ConfigMap. */
const authoritiesMax = 8

export interface PublishedProxies {
  /** This server as a proxy. */
  readonly identity: FrontProxyIdentity
  /** The proxies before this server, if there are any: they may also be before aggregated ones. */
  readonly others?: FrontProxyOptions | undefined
}

/** The values to publish, given the published authorities. */
export function requestHeaderValues({ identity, others }: PublishedProxies, published: string): Record<string, string> {
  const names =
    others && (others.allowedNames ?? []).length === 0 ? [] : [...(others?.allowedNames ?? []), frontProxyName]
  return {
    'requestheader-allowed-names': JSON.stringify([...new Set(names)]),
    'requestheader-client-ca-file': joinCertificates(published, others?.caPem ?? '', identity.authority.certificatePem),
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  }
}

/** Each certificate of these texts once, the latest ones. */
export function joinCertificates(...pems: readonly string[]): string {
  const all = pems.flatMap((pem) => pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [])
  return `${[...new Set(all)].slice(-authoritiesMax).join('\n')}\n`
}
