/**
 * The rules of the kinds as admission hooks: what a schema cannot say, with the path of the field.
 *
 * An object that is being deleted is left alone, so that its finalizers can go whatever else it says.
 */
import { ApiError, type Kind, type KubeObject } from 'evenkeel'
import { FieldPath, type AdmissionHook, type FieldError } from 'evenkeel/server'
import { allKinds } from '../kinds/all.ts'
import { Container, ContainerExec, ContainerVolume } from '../kinds/container.ts'
import { Executable, ExecutableReplicaSet } from '../kinds/executable.ts'
import { ContainerNetwork, ContainerNetworkTunnelProxy } from '../kinds/network.ts'
import type { SpecChange } from './changes.ts'
import {
  containerChanges,
  containerErrors,
  containerExecChanges,
  containerExecErrors,
  volumeChanges,
  volumeErrors,
} from './container.ts'
import { executableChanges, executableErrors, replicaSetErrors } from './executable.ts'
import { valuesOf, type Values } from './field-values.ts'
import { networkChanges, networkErrors, tunnelProxyChanges, tunnelProxyErrors } from './network.ts'

interface KindRules {
  readonly kind: Kind
  /** What is wrong with a spec. */
  readonly check: (spec: Values, path: FieldPath) => readonly FieldError[]
  /** What is wrong with a change of it. */
  readonly change?: (change: SpecChange) => readonly FieldError[]
}

const rules: readonly KindRules[] = [
  { kind: Executable, check: executableErrors, change: executableChanges },
  { kind: ExecutableReplicaSet, check: replicaSetErrors },
  { kind: Container, check: containerErrors, change: containerChanges },
  { kind: ContainerExec, check: containerExecErrors, change: containerExecChanges },
  { kind: ContainerVolume, check: volumeErrors, change: volumeChanges },
  { kind: ContainerNetwork, check: networkErrors, change: networkChanges },
  { kind: ContainerNetworkTunnelProxy, check: tunnelProxyErrors, change: tunnelProxyChanges },
]

interface RulesOptions {
  /** Whether the application is being cleaned up: nothing new may come then. */
  readonly isCleaningUp: () => boolean
}

export function ruleHooks({ isCleaningUp }: RulesOptions): AdmissionHook[] {
  return [
    ...rules.map(hookOf),
    ...allKinds.map((kind) => ({
      name: `no new ${kind.plural} while cleaning up`,
      kind,
      validate: (_: KubeObject, { request: { operation } }: { readonly request: { readonly operation: string } }) => {
        if (operation === 'CREATE' && isCleaningUp())
          throw new ApiError('Forbidden', `no ${kind.kind} can be created: the application is being cleaned up`)
        return undefined
      },
    })),
  ]
}

const specPath = FieldPath.of('spec')

function hookOf({ kind, check, change }: KindRules): AdmissionHook {
  return {
    name: `rules of ${kind.kind}`,
    kind,
    validate(object, { request: { operation }, oldObject }) {
      if (operation === 'DELETE' || object.metadata.deletionTimestamp !== undefined) return undefined
      const spec = valuesOf(object, 'spec') ?? {}
      const old = oldObject && (valuesOf(oldObject, 'spec') ?? {})
      return [...(old ? (change?.({ old, spec, path: specPath }) ?? []) : []), ...check(spec, specPath)]
    },
  }
}
