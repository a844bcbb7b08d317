/**
 * What the embedding program adds to custom kinds: subresources that stream or run commands, and rules that a CRD cannot say.
 *
 * The options are found by group and kind, so they hold for every version, and also for a CRD that is created later.
 * Without an entry a kind has the rules of every custom resource.
 */
import { checkDnsLabel } from '#api'
import type { ConnectHandler } from './connects.ts'
import type { StreamHandler } from './streams.ts'

/** The rules of a custom kind that a CRD cannot say, as plain data. */
export interface CustomResourceRules {
  /**
   * Which names objects may have: `subdomain` as in Kubernetes (RFC 1123), or `path-segment`, which is everything but
   * `.`, `..` and texts with `/` or `%`, as Kubernetes has it for roles.
   *
   * @default 'subdomain'
   */
  readonly names?: 'subdomain' | 'path-segment'
  /**
   * What DELETE answers when the object is gone: a Status, or the object in its last state, as Kubernetes does for Pods
   * and Services.
   *
   * @default 'status'
   */
  readonly deleteAnswers?: 'status' | 'object'
  /**
   * What happens to the status of a new object when the kind has the subresource `status`.
   *
   * @default 'drop'
   */
  readonly statusOnCreate?: 'drop' | 'keep'
}

/** What the embedding program adds to a custom kind. */
export interface CustomResourceOptions extends CustomResourceRules {
  /**
   * The kind, made with `defineKind`, or its group and name. Of the built-in kinds `{ group: '', kind: 'Pod' }` may have the stream
   * `log`, for a program that runs Pods itself, and nothing else.
   */
  readonly kind: { readonly group: string; readonly kind: string }
  /**
   * Subresources that answer GET with a stream, by name. They are in discovery and OpenAPI, and need the permission
   * `get` on `PLURAL/NAME`.
   *
   * @default none
   */
  readonly streams?: Readonly<Record<string, StreamHandler>>
  /**
   * Subresources that are used over a WebSocket, such as `exec` and `attach`, by name. They are in discovery and OpenAPI,
   * and need the permissions `get` and `create` on `PLURAL/NAME`.
   *
   * @default none
   */
  readonly connects?: Readonly<Record<string, ConnectHandler>>
}

/** The names that a CRD or the server gives to subresources. */
const takenNames: ReadonlySet<string> = new Set(['status', 'scale'])

function checkName(name: string, what: string, { kind: { group, kind } }: CustomResourceOptions): void {
  if (!takenNames.has(name) && checkDnsLabel(name).length === 0) return
  throw new RangeError(
    `customResources: ${kind} of ${group} cannot have ${what} named ${JSON.stringify(name)}: use a DNS label other than status and scale`,
  )
}

/** The log of Pods is the one subresource that a program can take over. */
function checkBuiltIn({ kind: { kind }, streams = {}, connects = {}, ...rules }: CustomResourceOptions): void {
  const names = [...Object.keys(streams), ...Object.keys(connects), ...Object.keys(rules)]
  if (kind === 'Pod' && names.every((name) => name === 'log') && Object.keys(connects).length === 0) return
  throw new RangeError(
    `customResources: of the built-in kinds only Pod can have something, the stream log; got ${kind}`,
  )
}

/** The options of custom kinds, by group and kind. */
export class CustomResources {
  readonly #byKind = new Map<string, CustomResourceOptions>()

  /** @throws {RangeError} for a kind that is there twice, and for a name that a subresource cannot have. */
  constructor(all: readonly CustomResourceOptions[] = []) {
    for (const options of all) {
      const { group, kind } = options.kind
      if (group === '') checkBuiltIn(options)
      if (this.#byKind.has(`${group}/${kind}`))
        throw new RangeError(`customResources has ${kind} of ${group} twice: put both entries into one`)
      for (const name of Object.keys(options.streams ?? {})) checkName(name, 'a stream', options)
      for (const name of Object.keys(options.connects ?? {})) {
        checkName(name, 'a connection', options)
        if (options.streams?.[name])
          throw new RangeError(`customResources: ${kind} of ${group} has ${name} as a stream and as a connection`)
      }
      this.#byKind.set(`${group}/${kind}`, options)
    }
  }

  find({ group, kind }: CustomResourceOptions['kind']): CustomResourceOptions | undefined {
    return this.#byKind.get(`${group}/${kind}`)
  }

  /** The rules alone, for another thread. */
  get rules(): readonly CustomResourceOptions[] {
    return [...this.#byKind.values()].map(({ kind: { group, kind }, names, deleteAnswers, statusOnCreate }) => ({
      kind: { group, kind },
      ...(names && { names }),
      ...(deleteAnswers && { deleteAnswers }),
      ...(statusOnCreate && { statusOnCreate }),
    }))
  }
}
