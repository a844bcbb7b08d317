/**
 * The options of a server and the running server, as embedders see them.
 */
import type { Kind } from '#api'
import type { Clock, Logger, Random } from '#base'
import type { Resource } from '#builtins'
import type { Store } from '#store'
import type { Transport } from '#wire'
import type { AdmissionHook } from './admission/admission-hooks.ts'
import type { AuditOptions } from './audit/audit-log.ts'
import type { AuthenticationOptions } from './auth/authentication-options.ts'
import type { Identity } from './auth/identity.ts'
import type { SecretClaims } from './auth/service-account-claims.ts'
import type { AuthorizationOption } from './authz/authorization-modes.ts'
import type { AuthorizerChain } from './authz/authorizer.ts'
import type { ConvertObject } from './crd/conversion.ts'
import type { LimitOptions } from './flowcontrol/limits.ts'
import type { ActionHandler } from './handlers/actions.ts'
import type { ListenOptions } from './listen/listener.ts'
import type { User } from './request-context.ts'
import type { WebhookOptions } from './webhooks/client.ts'

export interface ServerOptions {
  /**
   * Where objects are kept. A store that is given is not closed by the server.
   *
   * @default a new memory store
   */
  store?: Store
  /**
   * Take requests from sockets as well: on this address, with this identity.
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
   * How often old history is forgotten; it is kept for one to two times as long.
   *
   * @default 300_000
   */
  compactionMs?: number
  /**
   * How many bytes of compressed lists are remembered, for clients that read gzip; 0 for none.
   *
   * @default 33_554_432
   */
  compressedListBytesMax?: number
  /**
   * Kinds to serve: their definitions are there when the server is ready.
   *
   * @default none
   */
  kinds?: readonly Kind[]
  /**
   * Functions that turn objects of custom kinds from one version into another, by the name of the definition
   * (`widgets.example.com`); they take the place of what the definition says.
   *
   * @default what definitions say
   */
  conversions?: Readonly<Record<string, ConvertObject>>
  /**
   * How webhooks are reached.
   *
   * @default over the network, by URL only
   */
  webhooks?: WebhookOptions
  /**
   * How callers over sockets are known: certificates, tokens, service accounts, OpenID Connect, proxies.
   *
   * @default the administrator's token, client certificates of the server's own authority, tokens of service accounts
   */
  authentication?: AuthenticationOptions
  /**
   * Who decides what callers may do. Members of `system:masters`, and callers of {@link Server.transport}, may always
   * do everything.
   *
   * @default 'rbac'
   */
  authorization?: AuthorizationOption
  /**
   * What may change or refuse writes beside what the objects of the cluster configure.
   *
   * @default nothing
   */
  admission?: AdmissionOptions
  /**
   * How much callers may have under way at once, and how long it may take.
   *
   * @default as upstream, fair by user
   */
  limits?: LimitOptions
  /**
   * Make what must be there before anybody asks: namespaces, and the roles that permissions begin with. Without, it has
   * to be in the store already.
   *
   * @default true
   */
  bootstrap?: boolean
  /**
   * Write down who did what.
   *
   * @default nothing is written down
   */
  audit?: AuditOptions
}

export interface AdmissionOptions {
  /**
   * Functions of this process, asked in order, before policies and webhooks.
   *
   * @default none
   */
  hooks?: readonly AdmissionHook[]
  /**
   * Who changes the owners of an object must be allowed to delete it, and who makes an owner wait for it must be allowed
   * to set finalizers on the owner.
   *
   * @default false
   */
  ownerReferences?: boolean
}

export interface ServerListenOptions extends Pick<ListenOptions, 'host' | 'port' | 'http' | 'limits'> {
  /**
   * Certificates and token; see `ensureIdentity` for one that lasts.
   *
   * @default one that lives as long as the server
   */
  identity?: Identity
  /**
   * More names under which the server is called; its certificate must have them too.
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
  /** The server as a function, for callers in this process, who are administrators. */
  readonly transport: Transport
  /** The same for callers in this process who act as another user, with the rights of that user. */
  as(user: User): Transport
  /** Who may do what: the door that every call goes through, for callers in this process who want to know before. */
  readonly authorizer: AuthorizerChain
  /** The token for a Secret of type `kubernetes.io/service-account-token`. It does not expire. */
  tokenForSecret(secret: SecretClaims): string
  /** How to reach it from outside; undefined when it does not listen. */
  readonly address: ServerAddress | undefined
  /** Forgets all history up to now: who asks for older versions is told to list again. */
  compact(): Promise<void>
  /** Answers an action of the form `call`, until the function that this gives is called. */
  onAction(kind: Pick<Resource, 'group' | 'kind'>, action: string, answerer: ActionHandler): () => void
  /**
   * Not ready, no new requests, watches end cleanly, requests under way may finish within `graceMs` (default 5000);
   * then everything is closed, also the store if it was made here.
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
