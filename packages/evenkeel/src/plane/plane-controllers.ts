/**
 * The controllers of the plane, each one line: what it is called, whom it acts as, and where its code is.
 *
 * Code is loaded when a controller starts, so that a server is ready before it. What each one does is in its own folder
 * and runs on any cluster; here they only meet.
 */
import type { Clock, Logger, Random } from '#base'
import type { ControllerDeclaration } from '#controller'
import type { ManagerOptions, Runnable } from '#manager'
import type { Server } from '#server'
import type { Transport } from '#wire'
import type { garbageCollector } from './garbage-collector/garbage-collector.ts'
import type { namespaceController } from './namespace-controller.ts'

/** What a controller of the plane may be made from. */
export interface PlaneEnvironment {
  /** The server, as the user that the controller acts as. */
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** The authority of the server's certificate; undefined when it has none. */
  readonly caPem: string | undefined
  /** Signs what belongs into the Secrets of service accounts. */
  readonly tokenForSecret: Server['tokenForSecret']
}

/** What a manager runs for it. */
export interface PlanePart extends Pick<ManagerOptions, 'controllers' | 'runnables'> {
  /** Whether its runnables have nothing to do now. @default always */
  readonly isIdle?: () => boolean
}

export interface PlaneController {
  /** The service account in `kube-system` that it writes as, or a user of the system; absent for what the server does itself. */
  readonly account?: string
  /** Undefined when there is nothing for it to do here. */
  make(facts: PlaneEnvironment): Promise<PlanePart | undefined>
}

export const planeControllers = {
  garbage: {
    account: 'generic-garbage-collector',
    make: async (facts) =>
      asCollector((await import('./garbage-collector/garbage-collector.ts')).garbageCollector(facts)),
  },
  namespaces: {
    account: 'namespace-controller',
    make: async () => asControllers((await import('./namespace-controller.ts')).namespaceController()),
  },
  serviceAccounts: {
    account: 'service-account-controller',
    make: async () => asControllers((await import('./service-accounts.ts')).serviceAccountController()),
  },
  rootCertificates: {
    account: 'root-ca-cert-publisher',
    make: async ({ caPem }) =>
      caPem === undefined
        ? undefined
        : asControllers((await import('./service-accounts.ts')).rootCertificateController({ caPem })),
  },
  tokens: {
    account: 'system:kube-controller-manager',
    make: async (facts) => asControllers((await import('./token-controller.ts')).tokenController(facts)),
  },
  aggregation: {
    account: 'clusterrole-aggregation-controller',
    make: async () => asControllers((await import('./cluster-role-aggregation.ts')).aggregationController()),
  },
  quotas: {
    account: 'resourcequota-controller',
    make: async () => asControllers((await import('./quota-controller.ts')).quotaController()),
  },
  policies: {
    account: 'validatingadmissionpolicy-status-controller',
    make: async () => asControllers((await import('./policy-status-controller.ts')).policyStatusController()),
  },
  leases: { make: async () => asControllers((await import('./lease-expiry.ts')).leaseExpiryController()) },
} satisfies Readonly<Record<string, PlaneController>>

export type PlaneControllerName = keyof typeof planeControllers

function asCollector(collector: Runnable & { readonly isIdle: () => boolean }): PlanePart {
  return { runnables: [collector], isIdle: collector.isIdle }
}

// A list of declarations does not know the type of each one's kind.
function asControllers(...controllers: readonly unknown[]): PlanePart {
  return { controllers: controllers as readonly ControllerDeclaration[] }
}

/*
 * The controllers of the plane for those who run them elsewhere: on another cluster, or in a simulated world.
 *
 * Loaded when asked for, as the plane itself does: a server is ready before its controllers.
 */

interface LoadedControllers {
  readonly garbageCollector: typeof garbageCollector
  readonly namespaceController: typeof namespaceController
}

export async function loadPlaneControllers(): Promise<LoadedControllers> {
  const [garbage, namespaces] = await Promise.all([
    import('./garbage-collector/garbage-collector.ts'),
    import('./namespace-controller.ts'),
  ])
  return { garbageCollector: garbage.garbageCollector, namespaceController: namespaces.namespaceController }
}
