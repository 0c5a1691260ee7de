// Declares nothing, as a file whose tests are all in a loop over an empty list.
export {};
