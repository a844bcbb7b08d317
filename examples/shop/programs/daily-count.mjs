/** Prints how many orders there are in each state, and ends. */
const orders = await (await fetch(`${process.env.DATABASE_URL}/tables/orders`)).json()
const states = [...new Set(orders.map(({ state }) => state))].sort()
console.log(
  `report: ${states.map((name) => `${orders.filter(({ state }) => state === name).length} ${name}`).join(', ')}`,
)
