/**
 * What explorations of dcp have in common: mistakes that are planted, and statuses without what tells of the past.
 */
import type { ControllerDeclaration, Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'

export type AnyDeclaration = ControllerDeclaration<Kind, ManagedContext>

/** The object with some methods replaced. */
export function replaced<T extends object>(target: T, methods: object): T {
  return new Proxy(target, {
    get: (real, name): unknown => {
      if (name in methods) return Reflect.get(methods, name)
      const value: unknown = Reflect.get(real, name, real)
      return typeof value === 'function' ? (value.bind(real) as unknown) : value
    },
  })
}

/** What tells of the past in a status, and is read by no later reconcile: it differs when the past does, as it should. */
const history: readonly string[] = [
  ...['pid', 'executionID', 'startupTimestamp', 'stdOutFile', 'stdErrFile', 'exitCode', 'healthStatus'],
  ...['lastScaleTime', 'proxyProcessPid'],
  ...['containerId', 'containerName'],
]

/**
 * A controller with a status that does not tell of the past.
 *
 * @param options.except fields that another controller reads
 */
export function withoutHistory(
  declaration: AnyDeclaration,
  { except = [] }: { readonly except?: readonly string[] } = {},
): AnyDeclaration {
  const { reconcile } = declaration
  return {
    ...declaration,
    reconcile: (object, context) => {
      const set = (fields: object): void => {
        const told = Object.entries(fields).filter(([name]) => !history.includes(name) || except.includes(name))
        context.status.set(Object.fromEntries(told) as never)
      }
      const status = replaced(context.status, { set })
      return reconcile?.(object, Object.create(context, { status: { value: status } }) as typeof context)
    },
  }
}
