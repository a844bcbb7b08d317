/**
 * `children` of a reconcile: what shall be there because its object is.
 *
 * An author says what shall be; who owns it, what has to be written, what is no longer wanted, how it is and who is told
 * of its changes follows from that.
 */
import type { KubeObject, ObjectMeta, Kind, Stored, TypeMeta } from '#api'
import type { ReadOf, WrittenOf } from '#client'
import type { ChildOptions } from './options.ts'

/** A child as it is written down; a name and a namespace that are left out are those of the parent. */
export type DesiredOf<K> = Omit<WrittenOf<K>, 'metadata'> & { readonly metadata?: ObjectMeta }

/** A child of a kind that is said in words. */
export type UntypedChild = TypeMeta & { readonly metadata?: ObjectMeta }

/** One of several: an object with its type, or a kind, an object, and options. */
export type DeclaredChild = UntypedChild | readonly [kind: Kind, desired: object, options?: ChildOptions<never>]

export interface Children {
  /**
   * Makes a child what it is said to be and gives it as it is stored. Nothing is sent when it is that already.
   *
   * An object of somebody else with that name is not touched: the run ends there, and `ChildrenReady` says why.
   *
   * @throws {RangeError} for a child that cannot be, and while the parent is being deleted.
   */
  apply<K extends Kind>(kind: K, desired: DesiredOf<K>, options?: ChildOptions<ReadOf<K>>): Promise<ReadOf<K>>
  apply<T extends UntypedChild>(desired: T, options?: ChildOptions): Promise<Stored<T & KubeObject>>
  /** These, each as `apply` would. A function is called twice where determinism is checked, and must give the same. */
  declare(list: readonly DeclaredChild[] | (() => readonly DeclaredChild[])): Promise<readonly KubeObject[]>
  /** There shall be none. Without this or an `apply`, a run takes nothing away. */
  none(): void
  /** One that is there, by name or by the `key` it was applied with. The name is the parent's by default. */
  get<K extends Kind>(kind: K, nameOrKey?: string): Promise<ReadOf<K> | undefined>
  /** What this controller applied for this parent and memory knows, in a stable order; metadata alone for kinds that are not in `owns`. */
  list(): readonly KubeObject[]
  /** Whether everything that was applied in this run is ready. */
  ready(): boolean
  /** Takes away what this run has not applied so far. A run that returns does so by itself. */
  prune(): Promise<void>
  /**
   * Goes on when a child is ready, or is what the predicate asks for; else the run ends here, and the next change of the
   * child brings another. Nothing is taken away by a run that ends here: phases are what comes after each other.
   */
  waitFor<T extends KubeObject>(child: T, predicate?: (child: T) => boolean): T
}

/** What every manager adds to the context of a run. */
export interface ChildrenContext {
  readonly children: Children
}
