// The rules of tic-tac-toe, and an exact solver.
#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

struct Board {
  std::array<int, 2> marks{0, 0};  // nine bits for each seat
  int moves = 0;

  int mover() const { return moves % 2; }
  bool free(int square) const { return !((marks[0] | marks[1]) >> square & 1); }
  void play(int square) { marks[mover()] |= 1 << square, ++moves; }

  bool won(int seat) const {
    for (const int line : {0007, 0070, 0700, 0111, 0222, 0444, 0421, 0124})
      if ((marks[seat] & line) == line) return true;
    return false;
  }
  bool over() const { return won(0) || won(1) || moves == 9; }
  int value() const { return won(0) ? 1 : won(1) ? -1 : 0; }  // for the first seat

  // Nine letters as the mover sees them: m for its own marks, o for its opponent's.
  std::string seen() const {
    std::string text(9, '.');
    for (int square = 0; square < 9; ++square) {
      if (marks[mover()] >> square & 1) text[square] = 'm';
      if (marks[1 - mover()] >> square & 1) text[square] = 'o';
    }
    return text;
  }
};

// Minimax over the whole game, remembered by position: it never loses, and draws one of the best moves by chance.
class Solver {
 public:
  Solver() : known_(1 << 18, unknown) {}

  int choose(const Board& board, std::mt19937& chance) {
    std::vector<int> best;
    int most = -2;
    for (int square = 0; square < 9; ++square) {
      if (!board.free(square)) continue;
      Board after = board;
      after.play(square);
      const int worth = -worth_to_mover(after);
      if (worth > most) most = worth, best.clear();
      if (worth == most) best.push_back(square);
    }
    return best[chance() % best.size()];
  }

 private:
  static constexpr signed char unknown = 2;

  int worth_to_mover(const Board& board) {
    signed char& known = known_[board.marks[0] << 9 | board.marks[1]];
    if (known != unknown) return known;
    int most = -2;
    if (board.over()) most = board.mover() == 0 ? board.value() : -board.value();
    for (int square = 0; square < 9 && !board.over(); ++square) {
      if (!board.free(square)) continue;
      Board after = board;
      after.play(square);
      most = std::max(most, -worth_to_mover(after));
    }
    return known = static_cast<signed char>(most);
  }

  std::vector<signed char> known_;
};
