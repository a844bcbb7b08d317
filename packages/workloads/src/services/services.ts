/**
 * Services and Endpoints as a part of the program: their controllers, and the connections between them.
 */
import type { ControllerDeclaration } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'
import type { Clock, Logger } from 'evenkeel/unstable/base'
import { ChangeFeed } from '../change-feed.ts'
import { endpointController } from './endpoint-controller.ts'
import type { Network } from './network.ts'
import type { PortClaims } from './port-claims.ts'
import { Proxies } from './proxies.ts'
import { Router } from './router.ts'
import type { ShutdownOrder } from '../shutdown-order.ts'
import { ServiceController } from './service-controller.ts'
import type { Endpoint, Service } from './service-kind.ts'

/** One HTTP port for all Services with `appProtocol: http`. */
export interface RouterSettings {
  readonly port: number
  /** @default '127.0.0.1' */
  readonly address?: string
}

interface ServicesOptions {
  readonly network: Network
  readonly claims: PortClaims
  /** Learns which Processes a Service stands for. @default none */
  readonly order?: ShutdownOrder
  readonly clock: Clock
  readonly router?: RouterSettings | undefined
  readonly log?: Logger | undefined
}

export class Services {
  readonly #proxies: Proxies
  readonly #router: Router | undefined
  readonly #options: ServicesOptions
  readonly #feed = new ChangeFeed()
  #isClosing = false

  constructor(options: ServicesOptions) {
    const { network, clock, log, claims, router } = options
    this.#options = options
    this.#proxies = new Proxies({
      network,
      clock,
      log,
      onChange: (owner, note) => {
        this.#feed.push(owner, note)
      },
    })
    if (router) {
      const { address = '127.0.0.1', port } = router
      this.#router = new Router({ at: { address, port }, proxies: this.#proxies, claims })
    }
  }

  declarations(): readonly [
    ControllerDeclaration<typeof Service, ManagedContext>,
    ControllerDeclaration<typeof Endpoint, ManagedContext>,
  ] {
    const controller = new ServiceController({
      proxies: this.#proxies,
      router: this.#router,
      feed: this.#feed,
      claims: this.#options.claims,
      order: this.#options.order,
      isClosing: () => this.#isClosing,
    })
    return [controller.declaration(), endpointController()]
  }

  /** Opens the router, which answers also when there is no Service. One that cannot listen is named by its Services. */
  async open(): Promise<void> {
    this.#proxies.open()
    const failure = await this.#router?.open()
    if (failure) this.#options.log?.warn('router cannot listen', { ...failure })
  }

  /** Nothing is accepted any more; connections go on. */
  async stopListening(): Promise<void> {
    this.#isClosing = true
    await this.#router?.stopListening()
    await this.#proxies.stopListening()
  }

  /** Ends every connection. */
  close(): void {
    this.#router?.close()
    this.#proxies.close()
  }
}
