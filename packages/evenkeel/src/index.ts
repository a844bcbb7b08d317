/**
 * The names most people need, listed by hand. Everything else has a subpath of its own.
 */
export * from './api/index.ts'
