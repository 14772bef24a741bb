/** What each process of a job may compute on; a cluster that grows brings what is missing. */

export const DEVICES = [["auto", "Cards, else cores"], ["gpu", "Cards alone"], ["cpu", "Cores"]];
