/**
 * How the server reaches webhooks: what its embedder may say about it.
 */
import type { HttpsConnection, HttpsOptions } from '#wire'

/** How the server reaches webhooks. */
export interface WebhookOptions {
  /**
   * Opens a way to an HTTPS origin.
   *
   * @default over the network
   */
  connect?: (destination: HttpsOptions) => HttpsConnection
  /**
   * Where a Service is that a webhook names: its host and port.
   *
   * @default it is nowhere: there is no cluster network, so such calls fail and say so
   */
  resolveService?: (service: WebhookServiceReference) => ServiceAddress | Promise<ServiceAddress>
}

export interface WebhookServiceReference {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface ServiceAddress {
  readonly host: string
  readonly port: number
}

/** Where a webhook is, as configurations and definitions say it. */
export interface WebhookClientConfig {
  readonly url?: string
  readonly service?: {
    readonly namespace: string
    readonly name: string
    readonly path?: string
    readonly port?: number
  }
  /** PEM in base64. */
  readonly caBundle?: string
}
