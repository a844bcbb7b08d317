/**
 * The service behind the API: shapes in memory, and what can go wrong with it.
 *
 * It keeps what it was given and asks nobody. Ids are its own and are never used again.
 */
import type { DrawnShape } from '../kinds.ts'

/** What the service answers with when it cannot. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export class ShapesInMemory {
  readonly shapes = new Map<string, DrawnShape>()
  isDown = false
  #next = 1
  #onChange: () => void = () => undefined

  /** Called after every change. */
  onChange(call: () => void): void {
    this.#onChange = call
  }

  listShapes(): readonly DrawnShape[] {
    this.#answer()
    return [...this.shapes.values()]
  }

  getShape(id: string): DrawnShape | undefined {
    this.#answer()
    return this.shapes.get(id)
  }

  createShape({ name, type, color, labels }: Omit<DrawnShape, 'id'>): DrawnShape {
    this.#answer()
    const shape: DrawnShape = { id: `s${this.#next++}`, name, type, color, labels: { ...labels } }
    this.shapes.set(shape.id, shape)
    this.#onChange()
    return shape
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
