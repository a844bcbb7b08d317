/**
 * The service behind the API: shapes in memory, with simulated failures.
 *
 * It stores what it receives. It chooses the ids and never uses one twice.
 */
import type { DrawnShape, ShapesApi } from '../kinds.ts'

/** An error response of the service. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export class ShapesInMemory implements ShapesApi {
  readonly shapes = new Map<string, DrawnShape>()
  isDown = false
  readonly #byKey = new Map<string, DrawnShape>()
  readonly #canceled = new Set<string>()
  #next = 1
  #onChange: () => void = () => undefined

  /** Called after every change. */
  onChange(call: () => void): void {
    this.#onChange = call
  }

  /** Up, and empty: also of shapes that no object or label leads to. */
  reset(): void {
    this.isDown = false
    this.shapes.clear()
    this.#byKey.clear()
    this.#canceled.clear()
    this.#onChange()
  }

  listShapes(): readonly DrawnShape[] {
    this.#answer()
    return [...this.shapes.values()]
  }

  getShape(id: string): DrawnShape | undefined {
    this.#answer()
    return this.shapes.get(id)
  }

  createShape({ name, type, color, labels }: Omit<DrawnShape, 'id'>, key?: string): DrawnShape {
    this.#answer()
    if (key !== undefined && this.#canceled.has(key)) throw new ServiceError(409, `the create ${key} was canceled`)
    const known = key === undefined ? undefined : this.#byKey.get(key)
    if (known) return this.shapes.get(known.id) ?? known
    const shape: DrawnShape = { id: `s${this.#next++}`, name, type, color, labels: { ...labels } }
    this.shapes.set(shape.id, shape)
    if (key !== undefined) this.#byKey.set(key, shape)
    this.#onChange()
    return shape
  }

  cancelCreate(key: string): void {
    this.#answer()
    this.#canceled.add(key)
    const made = this.#byKey.get(key)
    if (made && this.shapes.delete(made.id)) this.#onChange()
  }

  updateShape(id: string, change: Partial<Omit<DrawnShape, 'id'>>): void {
    this.#answer()
    this.shapes.set(id, { ...this.#find(id), ...change })
    this.#onChange()
  }

  deleteShape(id: string): void {
    this.#answer()
    this.#find(id)
    this.shapes.delete(id)
    this.#onChange()
  }

  #find(id: string): DrawnShape {
    const shape = this.shapes.get(id)
    if (!shape) throw new ServiceError(404, `there is no shape ${id}`)
    return shape
  }

  #answer(): void {
    if (this.isDown) throw new ServiceError(503, 'the shapes service is down')
  }
}
