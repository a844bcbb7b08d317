/**
 * The options of a server and the running server, as embedders see them.
 */
import type { Kind } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { Resource } from '@evenkeel/builtins'
import type { Store } from '#store'
import type { CertificateKeyPair, Transport } from '#wire'
import type { AdmissionHook } from './admission/admission-hooks.ts'
import type { AdmissionPluginName } from './admission/plugin-names.ts'
import type { AuditOptions } from './audit/audit-log.ts'
import type { AuthenticationOptions } from './auth/authentication-options.ts'
import type { Identity } from './auth/identity.ts'
import type { SecretClaims } from './auth/service-account-claims.ts'
import type { AuthorizationOption } from './authz/authorization-modes.ts'
import type { AuthorizerChain } from './authz/authorizer.ts'
import type { ConvertObject } from './crd/conversion.ts'
import type { CustomResourceOptions } from './extensions/custom-resources.ts'
import type { Route } from './extensions/routes.ts'
import type { LimitOptions } from './flowcontrol/limits.ts'
import type { ActionHandler } from './handlers/actions.ts'
import type { ListenOptions } from './listen/listener.ts'
import type { User } from './request-context.ts'
import type { WebhookOptions } from './webhooks/client.ts'

export interface ServerOptions {
  /**
   * The store of all objects. The server does not close a given store.
   *
   * @default a new memory store
   */
  store?: Store
  /**
   * Also accept requests from sockets: on this address, with this identity.
   *
   * @default no sockets
   */
  listen?: ServerListenOptions
  /** @default the system's */
  clock?: Clock
  /** @default the system's */
  random?: Random
  /** @default silent */
  log?: Logger
  /**
   * The interval of compaction; history is kept for one to two intervals.
   *
   * @default 300_000
   */
  compactionMs?: number
  /**
   * The size of the cache of compressed lists, in bytes; 0 for none.
   *
   * @default 33_554_432
   */
  compressedListBytesMax?: number
  /**
   * Kinds to serve: their CRDs are installed when the server is ready.
   *
   * @default none
   */
  kinds?: readonly Kind[]
  /**
   * What this program adds to custom kinds: subresources that stream, such as `log`, and rules that a CRD cannot say.
   *
   * @default none
   */
  customResources?: readonly CustomResourceOptions[]
  /**
   * Paths of this program beside the API, such as `/admin/execution`.
   *
   * @default none
   */
  routes?: readonly Route[]
  /**
   * Converters between versions of custom kinds, by the name of the CRD (`widgets.example.com`); they replace the
   * conversion in the CRD.
   *
   * @default the conversion of each CRD
   */
  conversions?: Readonly<Record<string, ConvertObject>>
  /**
   * How webhooks and the Services of aggregated API servers are reached.
   *
   * @default over the network: webhooks by URL, aggregated API servers by the addresses of their EndpointSlices
   */
  webhooks?: WebhookOptions
  /**
   * Authentication of requests from sockets: certificates, tokens, service accounts, OpenID Connect, proxies.
   *
   * @default the administrator's token, client certificates of the server's own authority, tokens of service accounts
   */
  authentication?: AuthenticationOptions
  /**
   * Authorization of requests. Members of `system:masters`, and requests through {@link Server.transport}, are always
   * allowed.
   *
   * @default 'rbac'
   */
  authorization?: AuthorizationOption
  /**
   * Admission beside the webhooks and policies of the cluster.
   *
   * @default none
   */
  admission?: AdmissionOptions
  /**
   * Limits on concurrent requests and their duration.
   *
   * @default as upstream, fair by user
   */
  limits?: LimitOptions
  /**
   * The range of cluster IPs of Services, as a CIDR; two of them, one of each family, for a dual-stack cluster. The first
   * address is that of the Service `default/kubernetes`. A range of stored Services should not change.
   *
   * @default ['10.96.0.0/12']
   */
  serviceClusterIpRanges?: readonly string[]
  /**
   * Create the initial objects: namespaces, and the default RBAC roles. If false, the store must have them already.
   *
   * @default true
   */
  bootstrap?: boolean
  /**
   * The client certificate of this server as a proxy before aggregated API servers. They must trust its authority:
   * {@link FrontProxyOptions.caPem} of `authentication` is published for them.
   *
   * @default a certificate of an authority of its own
   */
  proxyClient?: CertificateKeyPair
  /**
   * Features of Kubernetes that are off by default there, by the name of their feature gate.
   *
   * @default all off
   */
  featureGates?: FeatureGates
  /**
   * The audit log.
   *
   * @default none
   */
  audit?: AuditOptions
}

interface FeatureGates {
  /**
   * Requests and responses in CBOR: `application/cbor`, `application/cbor-seq` for watches, `application/apply-patch+cbor`.
   *
   * @default false
   */
  CBORServingAndStorage?: boolean
}

export interface AdmissionOptions {
  /**
   * Functions of this process, called in order, before policies and webhooks.
   *
   * @default none
   */
  hooks?: readonly AdmissionHook[]
  /**
   * Plugins to run beside the default ones: ServiceAccount and StorageObjectInUseProtection need the controllers of a
   * plane, which enables them; OwnerReferencesPermissionEnforcement needs rights on the owner for changes of owner
   * references.
   *
   * @default none
   */
  enablePlugins?: readonly AdmissionPluginName[]
  /**
   * Plugins not to run.
   *
   * @default none
   */
  disablePlugins?: readonly AdmissionPluginName[]
}

export interface ServerListenOptions extends Pick<ListenOptions, 'host' | 'port' | 'http' | 'limits'> {
  /**
   * Certificates and token; see `ensureIdentity` for a persistent one.
   *
   * @default one that lives as long as the server
   */
  identity?: Identity
  /**
   * Further host names of the server; its certificate must have them too.
   *
   * @default none
   */
  names?: readonly string[]
  /**
   * Plain HTTP. Tokens then travel in the clear: for loopback and for tests.
   *
   * @default true
   */
  tls?: boolean
}

export interface Server {
  /** The server as a function, for code in this process, with the rights of an administrator. */
  readonly transport: Transport
  /** The same for code in this process that acts as another user, with the rights of that user. */
  as(user: User): Transport
  /** The authorizer of every request, for code in this process that checks a permission in advance. */
  readonly authorizer: AuthorizerChain
  /** The token for a Secret of type `kubernetes.io/service-account-token`. It does not expire. */
  tokenForSecret(secret: SecretClaims): string
  /** The address for clients; undefined when the server does not listen. */
  readonly address: ServerAddress | undefined
  /** Compacts all history up to now: a request for an older version gets 410 and has to list again. */
  compact(): Promise<void>
  /** Adds a handler for an action of the form `call`; the returned function removes it. */
  onAction(kind: Pick<Resource, 'group' | 'kind'>, action: string, answerer: ActionHandler): () => void
  /**
   * Reports not ready, accepts no new requests and ends watches cleanly. Requests in flight may finish within `graceMs`
   * (default 5000). Then everything is closed, also the store if the server created it.
   */
  stop(options?: { graceMs?: number }): Promise<void>
}

export interface ServerAddress {
  /** `https://127.0.0.1:6443` */
  readonly url: string
  readonly port: number
  /** The authority to trust; undefined without TLS. */
  readonly caPem: string | undefined
  /** The administrator's bearer token. */
  readonly token: string
}
