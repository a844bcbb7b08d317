/** What explorations of this package share: a status without the past, and mistakes that are made on purpose. */
import type { ControllerDeclaration, Kind } from 'evenkeel'
import type { ManagedContext } from 'evenkeel/controller'

type Declaration<K extends Kind> = ControllerDeclaration<K, ManagedContext>

/** What tells of the past: it differs when the past does, as it should. */
const history = ['run', 'runs', 'restarts', 'nextRestartAt']

/** The controller, with a status that does not tell of the past. */
export function withoutHistory<K extends Kind>(declaration: Declaration<K>): Declaration<K> {
  const { reconcile } = declaration
  return {
    ...declaration,
    reconcile: (object, context) => {
      const set = (fields: object): void => {
        context.status.set(
          Object.fromEntries(Object.entries(fields).filter(([name]) => !history.includes(name))) as never,
        )
      }
      const status = new Proxy(context.status, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name, target)
          return name === 'set' ? set : typeof value === 'function' ? (value.bind(target) as unknown) : value
        },
      })
      return reconcile?.(object, Object.create(context, { status: { value: status } }) as typeof context)
    },
  }
}

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
