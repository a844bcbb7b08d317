/**
 * The controllers of a plane: name, service account and code of each.
 *
 * The code is loaded when a controller starts, so that the server is ready first. Every controller also runs on any other
 * cluster. `loadPlaneControllers` is for users who run them on another cluster or in a simulation.
 */
import type { Clock, Logger, Random } from '#base'
import type { ControllerDeclaration } from '#controller'
import type { ManagerOptions, Runnable } from '#manager'
import type { Server } from '#server'
import type { Transport } from '#wire'
import type { garbageCollector } from './garbage-collector/garbage-collector.ts'
import type { namespaceController } from './namespace-controller.ts'

/** The environment of a controller of the plane. */
export interface PlaneEnvironment {
  /** The transport to the server, authenticated as the service account of the controller. */
  readonly transport: Transport
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** The CA certificate of the server; undefined if it has none. */
  readonly caPem: string | undefined
  /** Signs the tokens for service account Secrets. */
  readonly tokenForSecret: Server['tokenForSecret']
}

/** What the manager of a controller runs. */
export interface PlanePart extends Pick<ManagerOptions, 'controllers' | 'runnables'> {
  /** Whether its runnables are idle. @default always */
  readonly isIdle?: () => boolean
}

export interface PlaneController {
  /** Its service account in `kube-system`, or a `system:` user; absent for work of the server itself. */
  readonly account?: string
  /** Undefined if it has nothing to do on this server. */
  make(environment: PlaneEnvironment): Promise<PlanePart | undefined>
}

export const planeControllers = {
  garbage: {
    account: 'generic-garbage-collector',
    make: async (environment) =>
      asCollector((await import('./garbage-collector/garbage-collector.ts')).garbageCollector(environment)),
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
    make: async (environment) => asControllers((await import('./token-controller.ts')).tokenController(environment)),
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
  claims: {
    account: 'pvc-protection-controller',
    make: async () => asControllers((await import('./storage-protection.ts')).claimProtectionController()),
  },
  volumes: {
    account: 'pv-protection-controller',
    make: async () => asControllers((await import('./storage-protection.ts')).volumeProtectionController()),
  },
  volumeAttributesClasses: {
    account: 'volumeattributesclass-protection-controller',
    make: async () => asControllers((await import('./storage-protection.ts')).attributesClassProtectionController()),
  },
  leases: { make: async () => asControllers((await import('./lease-expiry.ts')).leaseExpiryController()) },
} satisfies Readonly<Record<string, PlaneController>>

export type PlaneControllerName = keyof typeof planeControllers

function asCollector(collector: Runnable & { readonly isIdle: () => boolean }): PlanePart {
  return { runnables: [collector], isIdle: collector.isIdle }
}

// A list of declarations cannot have the kind type of each.
function asControllers(...controllers: readonly unknown[]): PlanePart {
  return { controllers: controllers as readonly ControllerDeclaration[] }
}

/** Controllers of the plane for use on another cluster or in a simulation. */
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
