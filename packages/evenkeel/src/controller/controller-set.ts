/**
 * The controllers of one process and cluster: each name once.
 */
import type { Kind } from '#api'
import { Controller } from './controller.ts'
import type { ControllerDeclaration } from './declaration.ts'
import type { ControllerEnvironment } from './environment.ts'

export class ControllerSet implements Iterable<Controller> {
  readonly #environment: ControllerEnvironment
  readonly #controllers = new Map<string, Controller>()

  constructor(environment: ControllerEnvironment) {
    this.#environment = environment
  }

  /** @throws {RangeError} when the declaration cannot be meant, or its name is taken. */
  add<K extends Kind, Extra extends object>(declaration: ControllerDeclaration<K, Extra>): Controller {
    const controller = new Controller(declaration as unknown as ControllerDeclaration, this.#environment)
    const other = this.#controllers.get(controller.name)
    if (other)
      throw new RangeError(
        `two controllers are called ${controller.name}, one for ${describe(other.declaration.for)}, one for ${describe(declaration.for)}: give one of them another name`,
      )
    this.#controllers.set(controller.name, controller)
    return controller
  }

  get(name: string): Controller | undefined {
    return this.#controllers.get(name)
  }

  [Symbol.iterator](): IterableIterator<Controller> {
    return this.#controllers.values()
  }
}

function describe({ kind, apiVersion }: Kind): string {
  return `${kind} (${apiVersion})`
}
