/** The model was told to drop the connection: whoever holds it does. */
export class Dropped extends Error {
  override readonly name = "Dropped";
}
